let gathering: Promise<void> | null = null
let isGathered = false

/**
 * Resolves at the end of this turn of the event loop, for all callers of the turn together. Requests that arrive
 * together go on together, so that a store can combine what they ask for, and their answers leave together.
 */
export function endOfTurn (): Promise<void> {
  gathering ??= new Promise((resolve) => {
    setImmediate(() => {
      gathering = null
      isGathered = true
      resolve()
      // Node.js runs a tick that a microtask asks for when all microtasks are done: those are the callers' work.
      queueMicrotask(() => process.nextTick(() => { isGathered = false }))
    })
  })
  return gathering
}

/** Calls back when no more calls can come in this turn: behind all who waited for its end, or at its end. */
export function atEndOfTurn (callback: () => void): void {
  if (isGathered) process.nextTick(callback)
  else setImmediate(callback)
}
