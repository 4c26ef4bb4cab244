import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'

// Node.js resolves names on the four threads that files and some drivers of databases need too.
const TOGETHER = 2
const LIMIT_MS = 10_000
const SLOW_MAX = 1000

/** Resolves a name to all of its addresses. */
export type Resolve = (name: string) => Promise<LookupAddress[]>

interface LookUp {
  name: string
  /** How many wait for its result. */
  callers: number
  isRunning: boolean
  result: Promise<LookupAddress[]>
  start: () => void
}

/**
 * Makes a function that resolves names, a few at a time, and gives up in time. A look-up can't be ended: so all who ask
 * for a name share one, one that nobody waits for any more is not begun, and of names that were slow before only one is
 * looked up at a time, which leaves a place to others.
 */
export function createResolve (lookup: LookupFunction = dnsLookup, limitMs = LIMIT_MS): Resolve {
  /** Those that run or wait, in the order in which they were asked for. */
  const lookUps = new Map<string, LookUp>()
  const slow = new LRUCache<string, true>({ max: SLOW_MAX })

  function hasPlace ({ name }: LookUp): boolean {
    const running = [...lookUps.values()].filter(({ isRunning }) => isRunning)
    return running.length < TOGETHER && !(slow.has(name) && running.some((each) => slow.has(each.name)))
  }

  function startWaiting (): void {
    for (const each of lookUps.values()) {
      if (each.isRunning || !hasPlace(each)) continue
      each.isRunning = true
      each.start()
    }
  }

  function ask (name: string): Promise<LookupAddress[]> {
    return new Promise((resolve, reject) => {
      lookup(name, { all: true }, (error, addresses, family = 0) => {
        if (error !== null) reject(error)
        else resolve(typeof addresses === 'string' ? [{ address: addresses, family }] : addresses)
      })
    })
  }

  function open (name: string): LookUp {
    let start = (): void => {}
    const started = new Promise<number>((resolve) => { start = () => resolve(performance.now()) })
    const result = started.then(async (since) => {
      try {
        return await ask(name)
      } finally {
        if (performance.now() - since < limitMs) slow.delete(name)
        lookUps.delete(name)
        startWaiting()
      }
    })
    const made = { name, callers: 0, isRunning: false, result, start }
    lookUps.set(name, made)
    return made
  }

  function giveUp (lookUp: LookUp): void {
    lookUp.callers--
    if (lookUp.isRunning) slow.set(lookUp.name, true)
    else if (lookUp.callers === 0) lookUps.delete(lookUp.name)
  }

  return (name) => new Promise((resolve, reject) => {
    const lookUp = lookUps.get(name) ?? open(name)
    lookUp.callers++
    const timer = setTimeout(() => {
      giveUp(lookUp)
      reject(Object.assign(new Error('resolving takes too long'), { code: 'EAI_AGAIN' }))
    }, limitMs)
    lookUp.result.then(resolve, reject).finally(() => clearTimeout(timer))
    startWaiting()
  })
}
