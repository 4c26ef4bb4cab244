import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

// Node.js resolves names on the four threads that files and some drivers of databases need too.
const TOGETHER = 2
const LIMIT_MS = 10_000

/** Resolves a name to all of its addresses. */
export type Resolve = (name: string) => Promise<LookupAddress[]>

/** Makes a function that resolves names, a few at a time, and gives up in time. */
export function createResolve (lookup: LookupFunction = dnsLookup, limitMs = LIMIT_MS): Resolve {
  const waiting: Array<() => void> = []
  let running = 0

  function next (): void {
    running--
    waiting.shift()?.()
  }

  return (name) => new Promise((resolve, reject) => {
    const late = (): void => reject(Object.assign(new Error('resolving takes too long'), { code: 'EAI_AGAIN' }))
    const timer = setTimeout(late, limitMs)
    const start = (): void => {
      running++
      lookup(name, { all: true }, (error, addresses, family = 0) => {
        clearTimeout(timer)
        next()
        if (error !== null) reject(error)
        else resolve(typeof addresses === 'string' ? [{ address: addresses, family }] : addresses)
      })
    }
    if (running < TOGETHER) start()
    else waiting.push(start)
  })
}
