import { subscribe } from 'node:diagnostics_channel'

// More new connections would keep the requests of others waiting.
const ACCEPTED_MAX = 128

let gathering: Promise<void> | null = null
let isGathered = false
let hasAccepted = false

// Published by Node.js for every connection that a server of the process accepts.
subscribe('net.server.socket', () => { hasAccepted = true })

/**
 * Calls back at the end of this turn of the event loop, or of a later one: Node.js accepts one connection in a turn, so
 * the requests of those who connect together arrive in as many turns. Work between them would keep the last of 500
 * clients waiting for 500 such pieces of work.
 */
function afterArrivals (callback: () => void, left = ACCEPTED_MAX): void {
  setImmediate(() => {
    if (!hasAccepted || left === 0) return callback()
    hasAccepted = false
    afterArrivals(callback, left - 1)
  })
}

/**
 * Resolves at the end of this turn of the event loop, for all callers of the turn together. Requests that arrive
 * together go on together, so that a store can combine what they ask for, and their answers leave together.
 */
export function endOfTurn (): Promise<void> {
  gathering ??= new Promise((resolve) => {
    afterArrivals(() => {
      gathering = null
      isGathered = true
      resolve()
      // Node.js runs a tick that a microtask asks for when all microtasks are done: those are the callers' work.
      queueMicrotask(() => process.nextTick(() => { isGathered = false }))
    })
  })
  return gathering
}

/**
 * Runs the callback at the end of the turn, after all continuations of `endOfTurn()`, when no more calls can arrive.
 */
export function atEndOfTurn (callback: () => void): void {
  if (isGathered) process.nextTick(callback)
  else setImmediate(callback)
}
