import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { raceCases, type Racers } from './race-cases.ts'
import type { Delay } from './races.ts'
import { apiKeyOf, timeOf } from './values.ts'

const KEEP_NONE = { keepOneWith: [] }

/** Every write that can meet another on the API key with a number, or on its scope, or on its successor's start. */
function racersOf (n: number): Racers {
  const scopes = ['users:read', `admin:${n}`]
  const [one, other] = [apiKeyOf(10 * n, { scopes }), apiKeyOf(10 * n + 1, { scopes })]
  const successorOf = (i: number) => apiKeyOf(10 * n + i, { scopes: ['users:read'], rotatedFrom: one.id })
  const next = successorOf(2)
  const keepOne = { keepOneWith: [`admin:${n}`] }
  return {
    before: [
      ['createApiKey', one, { onlyFirst: false }],
      ['createApiKey', other, { onlyFirst: false }]
    ],
    writers: [
      ['rotateApiKey', one.id, next, { now: timeOf(100), expiresAt: timeOf(500) }],
      ['rotateApiKey', one.id, successorOf(3), { now: timeOf(90), expiresAt: timeOf(400) }],
      ['rotateApiKey', one.id, successorOf(4), { now: timeOf(100), expiresAt: timeOf(100) }],
      ['revokeApiKey', one.id, timeOf(110), KEEP_NONE],
      ['revokeApiKey', one.id, timeOf(120), keepOne],
      ['revokeApiKey', other.id, timeOf(130), keepOne],
      ['touchApiKey', one.id, timeOf(140), timeOf(80)],
      ['touchApiKey', one.id, timeOf(150), timeOf(145)],
      ['createApiKey', apiKeyOf(10 * n + 5, { start: next.start }), { onlyFirst: false }]
    ]
  }
}

function again (call: CallOf<Writer>, n: number): CallOf<Writer> | null {
  // The same key twice would be refused for its id and for its start.
  if (call[0] === 'createApiKey') return null
  if (call[0] !== 'rotateApiKey') return call
  const [method, id, successor, times] = call
  const { id: otherId, start } = apiKeyOf(10 * n + 6)
  return [method, id, { ...successor, id: otherId, start }, times]
}

/** Duties of every two writers that can meet on one API key. */
export function keyRaceCases (delays: readonly Delay[]): Cases {
  return raceCases({ subject: 'key', racersOf, again }, delays)
}
