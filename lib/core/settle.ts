/** Resolves when the work has ended, however that was, or after so many milliseconds. */
export async function settleWithin (ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => { timer = setTimeout(resolve, ms) })
  await Promise.race([work.catch(() => {}), limit])
  clearTimeout(timer)
}
