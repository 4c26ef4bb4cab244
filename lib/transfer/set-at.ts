/** Sets a member of an object, or of an object within it, which is made where it is not there. */
export function setAt (user: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = '', ...rest] = path
  if (rest.length === 0) {
    user[first] = value
    return
  }
  const inner: Record<string, unknown> = Object.hasOwn(user, first) ? Object(user[first]) : {}
  user[first] = inner
  setAt(inner, rest, value)
}
