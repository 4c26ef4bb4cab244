let gathering: Promise<void> | null = null
let isGathered = false
let ends: Array<() => void> = []

function endGathered (): void {
  isGathered = false
  const all = ends
  ends = []
  for (const end of all) end()
}

/**
 * Resolves at the end of this turn of the event loop, for all who ask in it at one time: requests that came together go
 * on together, so that what they ask of a storage can be combined, and their answers leave together.
 */
export function endOfTurn (): Promise<void> {
  gathering ??= new Promise((resolve) => {
    setImmediate(() => {
      gathering = null
      isGathered = true
      resolve()
      // Behind everything that those who have waited do without waiting again.
      queueMicrotask(() => process.nextTick(endGathered))
    })
  })
  return gathering
}

/** Calls back when everybody who may still call in this turn of the event loop has done so. */
export function atEndOfTurn (callback: () => void): void {
  if (isGathered) ends.push(callback)
  else setImmediate(callback)
}
