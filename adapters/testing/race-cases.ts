import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { type Delay, type Race, requireSomeOrder } from './races.ts'

/** What is there before a race, and every call that can meet another on it. */
export interface Racers {
  before: ReadonlyArray<CallOf<Writer>>
  writers: ReadonlyArray<CallOf<Writer>>
}

interface RaceCases {
  /** What the calls meet on, for the titles. */
  subject: string
  /** The racers on records of their own for each number. */
  racersOf: (n: number) => Racers
  /** A call for a race with itself: the same with another new record. Null if there is nothing to learn from it. */
  again: (call: CallOf<Writer>, n: number) => CallOf<Writer> | null
}

/** The race of two calls with their numbers. Null if there is none: of a call with itself. */
function raceOf ({ racersOf, again }: RaceCases, n: number, [i, j]: [number, number]): Race | null {
  const { before, writers } = racersOf(n)
  const [first, other] = [writers[i], writers[j]]
  const second = i === j && other !== undefined ? again(other, n) : other
  return first !== undefined && second !== undefined && second !== null ? { before, first, second } : null
}

/** The names of calls in titles. */
const NAMES: Record<Writer, string> = {
  createUser: 'create',
  updateUser: 'update',
  deleteUser: 'delete',
  putAwayUser: 'put away',
  restoreUser: 'restore',
  purgeUser: 'purge',
  prune: 'prune',
  createApiKey: 'create key',
  rotateApiKey: 'rotate key',
  revokeApiKey: 'revoke key',
  touchApiKey: 'touch key'
}

/** The numbers of every two calls that race, by their names. */
function pairsOf (cases: RaceCases): Map<string, Array<[number, number]>> {
  const pairs = new Map<string, Array<[number, number]>>()
  const { length } = cases.racersOf(0).writers
  for (let i = 0; i < length; i++) {
    for (let j = i; j < length; j++) {
      const race = raceOf(cases, 0, [i, j])
      if (race === null) continue
      const methods = [...new Set([race.first[0], race.second[0]])].map((method) => NAMES[method]).sort().join(', ')
      pairs.set(methods, [...pairs.get(methods) ?? [], [i, j]])
    }
  }
  return pairs
}

// More than the trials of one race.
const APART = 100

/** Duties of every two calls that can meet, those of the same methods in one. Each race is run with each delay. */
export function raceCases (cases: RaceCases, delays: readonly Delay[]): Cases {
  return Object.fromEntries([...pairsOf(cases)].map(([methods, pairs]) => [
    `${methods}: any two concurrent calls on one ${cases.subject} end as one order of them does`,
    async (storage) => {
      for (const [at, pair] of pairs.entries()) {
        await requireSomeOrder(storage, (trial) => raceOf(cases, APART * at + trial, pair), delays)
      }
    }
  ]))
}
