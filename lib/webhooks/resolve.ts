import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'

// Node.js resolves names on the four threads that files and some drivers of databases need too.
const TOGETHER = 2
const LIMIT_MS = 10_000
// A look-up that took less than this share of the limit was fast.
const FAST_SHARE = 1 / 10
const REMEMBERED_MAX = 10_000

/** Code of the error of a name that was not resolved because of others: it says nothing about the name. */
export const BUSY = 'ERR_RESOLVE_BUSY'

/** Resolves a name to all of its addresses, for a caller. */
export type Resolve = (name: string, caller: string) => Promise<LookupAddress[]>

interface LookUp {
  name: string
  /** Who waits for its result. */
  callers: string[]
  /** When it began, by performance.now(); null: it waits. */
  since: number | null
  result: Promise<LookupAddress[]>
  start: () => void
}

function failure (lookUp: LookUp, limitMs: number): Error {
  const ran = lookUp.since === null ? 0 : performance.now() - lookUp.since
  return ran < limitMs / 2
    ? Object.assign(new Error('other names are being resolved'), { code: BUSY })
    : Object.assign(new Error('resolving takes too long'), { code: 'EAI_AGAIN' })
}

/**
 * Makes a function that resolves names, two at a time, and gives up in time. A look-up can't be ended, so a slow one
 * holds its place: one place is for names that were fast last time, and callers take turns at the other, however many
 * names each of them asks for. All who ask for a name share one look-up, and one that nobody waits for any more is not
 * begun.
 */
export function createResolve (lookup: LookupFunction = dnsLookup, limitMs = LIMIT_MS): Resolve {
  /** Those that run or wait, in the order in which they were asked for. */
  const lookUps = new Map<string, LookUp>()
  const fast = new LRUCache<string, true>({ max: REMEMBERED_MAX })
  /** When a caller had its last turn. */
  const turns = new LRUCache<string, number>({ max: REMEMBERED_MAX })
  let turn = 0

  const isFast = ({ name }: LookUp): boolean => fast.has(name)
  const turnOf = ({ callers }: LookUp): number => Math.min(...callers.map((caller) => turns.get(caller) ?? 0))

  /** The look-up that begins next, if there is a place for one. */
  function nextLookUp (): LookUp | undefined {
    const all = [...lookUps.values()]
    const running = all.filter(({ since }) => since !== null)
    if (running.length === TOGETHER) return undefined
    const waiting = all.filter(({ since }) => since === null).sort((a, b) => turnOf(a) - turnOf(b))
    const unproven = running.every(isFast) ? waiting.find((each) => !isFast(each)) : undefined
    return unproven ?? waiting.find(isFast)
  }

  function startWaiting (): void {
    for (let next = nextLookUp(); next !== undefined; next = nextLookUp()) {
      turn++
      for (const caller of next.callers) turns.set(caller, turn)
      next.start()
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

  async function run ({ name }: LookUp): Promise<LookupAddress[]> {
    const since = performance.now()
    try {
      return await ask(name)
    } finally {
      if (performance.now() - since < limitMs * FAST_SHARE) fast.set(name, true)
      else fast.delete(name)
      lookUps.delete(name)
      startWaiting()
    }
  }

  function open (name: string): LookUp {
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => { begin = resolve })
    const made: LookUp = {
      name,
      callers: [],
      since: null,
      result: begun.then(() => run(made)),
      start () {
        made.since = performance.now()
        begin()
      }
    }
    lookUps.set(name, made)
    return made
  }

  function giveUp (lookUp: LookUp, caller: string): void {
    lookUp.callers.splice(lookUp.callers.indexOf(caller), 1)
    if (lookUp.since !== null) fast.delete(lookUp.name)
    else if (lookUp.callers.length === 0) lookUps.delete(lookUp.name)
  }

  return (name, caller) => new Promise((resolve, reject) => {
    const lookUp = lookUps.get(name) ?? open(name)
    lookUp.callers.push(caller)
    const timer = setTimeout(() => {
      giveUp(lookUp, caller)
      reject(failure(lookUp, limitMs))
    }, limitMs)
    lookUp.result.then(resolve, reject).finally(() => clearTimeout(timer))
    startWaiting()
  })
}
