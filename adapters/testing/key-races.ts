import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { type Race, requireSomeOrder } from './races.ts'
import { apiKeyOf, timeOf } from './values.ts'

type KeyWriter = 'createApiKey' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'

const KEEP_NONE = { keepOneWith: null }

/** Every write that can meet another on the API key with a number, or on its scope, or on its successor's start. */
function writersOf (n: number) {
  const scopes = ['users:read', `admin:${n}`]
  const [one, other] = [apiKeyOf(10 * n, { scopes }), apiKeyOf(10 * n + 1, { scopes })]
  const successors = [2, 3, 4].map((i) => apiKeyOf(10 * n + i, { scopes: ['users:read'], rotatedFrom: one.id }))
  const [next = one, soon = one, now = one] = successors
  const keepOne = { keepOneWith: `admin:${n}` }
  const before: Array<CallOf<Writer>> = [
    ['createApiKey', one, { onlyFirst: false }],
    ['createApiKey', other, { onlyFirst: false }]
  ]
  const writers: ReadonlyArray<CallOf<KeyWriter>> = [
    ['rotateApiKey', one.id, next, { now: timeOf(100), expiresAt: timeOf(500) }],
    ['rotateApiKey', one.id, soon, { now: timeOf(100), expiresAt: timeOf(400) }],
    ['rotateApiKey', one.id, now, { now: timeOf(100), expiresAt: timeOf(100) }],
    ['revokeApiKey', one.id, timeOf(110), KEEP_NONE],
    ['revokeApiKey', one.id, timeOf(120), keepOne],
    ['revokeApiKey', other.id, timeOf(130), keepOne],
    ['touchApiKey', one.id, timeOf(140), timeOf(80)],
    ['touchApiKey', one.id, timeOf(150), timeOf(145)],
    ['createApiKey', apiKeyOf(10 * n + 5, { start: next.start }), { onlyFirst: false }]
  ]
  return { before, writers }
}

function pairs (): Map<string, Array<[number, number]>> {
  const { writers } = writersOf(0)
  const byMethods = new Map<string, Array<[number, number]>>()
  for (const [i, [one]] of writers.entries()) {
    for (const [j, [other]] of writers.entries()) {
      // The same key twice would be refused for its id and for its start.
      if (j < i || (one === 'createApiKey' && i === j)) continue
      const methods = [...new Set([one, other])].sort().join(', ')
      byMethods.set(methods, [...byMethods.get(methods) ?? [], [i, j]])
    }
  }
  return byMethods
}

function raceOf (n: number, i: number, j: number): Race {
  const { before, writers } = writersOf(n)
  const [first, second] = [writers[i], writers[j]]
  if (first === undefined || second === undefined) throw new RangeError('there is no such writer')
  if (i !== j || first[0] !== 'rotateApiKey' || second[0] !== 'rotateApiKey') return { before, first, second }
  const [, id, successor, times] = second
  const { id: otherId, start } = apiKeyOf(10 * n + 6)
  return { before, first, second: ['rotateApiKey', id, { ...successor, id: otherId, start }, times] }
}

/** Duties of every two writers that can meet on one API key. */
export const keyRaceCases: Cases = Object.fromEntries([...pairs()].map(([methods, list]) => [
  `${methods}: any two concurrent calls on one key end as one order of them does`,
  async (storage) => {
    let n = 0
    for (const [i, j] of list) {
      const from = n
      await requireSomeOrder(storage, (each) => raceOf(from + each, i, j))
      n += 100
    }
  }
]))
