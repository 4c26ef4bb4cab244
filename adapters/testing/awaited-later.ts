/** A promise whose failure is reported where it is awaited, though that may be later than it fails. */
export function awaitedLater<Result> (promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {})
  return promise
}
