import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { KitStorage } from './kit-storage.ts'
import { awaitedLater } from './awaited-later.ts'
import {
  type Call,
  type Callable,
  type CallOf,
  isSame,
  type Outcome,
  outcomeOf,
  type Reader,
  textOf,
  type Writer,
  written
} from './calls.ts'
import { readersOf } from './everywhere.ts'
import { createModel, type Model } from './model.ts'
import { keysOf, userOf } from './values.ts'

/** How long the second call of a race is held back. */
export interface Delay {
  microtasks?: number
  turns?: number
  ms?: number
}

// Each gap of a store that awaits is met by one of them: promises, turns of the event loop, then a network's times.
export const DELAYS: readonly Delay[] = [
  ...[0, 1, 3, 6].map((microtasks) => ({ microtasks })),
  ...[1, 2, 4].map((turns) => ({ turns })),
  ...[1, 3].map((ms) => ({ ms }))
]

/** One of each kind, for races that are run with every delay elsewhere. */
export const FEW_DELAYS: readonly Delay[] = [{ microtasks: 0 }, { turns: 1 }, { ms: 1 }]

async function wait ({ microtasks = 0, turns = 0, ms = 0 }: Delay): Promise<void> {
  for (let i = 0; i < microtasks; i++) await null
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
  if (ms > 0) await setTimeout(ms)
}

/** A race: what is there before, and two calls that meet. */
export interface Race {
  before: ReadonlyArray<CallOf<Writer>>
  first: CallOf<Writer>
  second: CallOf<Writer>
}

interface Ending {
  first: Outcome
  second: Outcome
  /** What readers find afterwards. */
  found: Outcome[]
}

/** A moment of a race: the calls that have returned, and what is there. */
interface Moment {
  first?: Outcome
  second?: Outcome
  model: Model
}

const IN_PROGRESS: Outcome = { refused: 'idempotency_in_progress' }

/** Every moment of both orders of a race, and those at which it may have ended. */
async function momentsOf (race: Race): Promise<{ moments: Moment[], ends: Array<Required<Moment>> }> {
  const { first, second } = race
  const none: Moment = { model: createModel() }
  for (const call of race.before) await outcomeOf(none.model, call)
  async function after<Name extends 'first' | 'second'> (moment: Moment, name: Name) {
    const model = moment.model.copy()
    return { model, outcome: await outcomeOf(model, race[name]) }
  }
  const [one, other] = [await after(none, 'first'), await after(none, 'second')]
  const [both, turned] = [await after(one, 'second'), await after(other, 'first')]
  const ends = [
    { first: one.outcome, second: both.outcome, model: both.model },
    { first: turned.outcome, second: other.outcome, model: turned.model }
  ]
  // A creation may be told that the other with its idempotency key is still running.
  const refused = isRepetition(first, second)
    ? [
        { first: one.outcome, second: IN_PROGRESS, model: one.model },
        { first: IN_PROGRESS, second: other.outcome, model: other.model }
      ]
    : []
  return { moments: [none, one, other, ...ends], ends: [...ends, ...refused] }
}

async function endingOf (
  storage: Callable,
  { first, second }: Omit<Ending, 'found'>,
  readers: readonly Call[]
): Promise<Ending> {
  const found: Outcome[] = []
  for (const reader of readers) found.push(await outcomeOf(storage, reader))
  return { first, second, found }
}

function isRepetition (first: Call, second: Call): boolean {
  return first[0] === 'createUser' && second[0] === 'createUser' && first[3] !== null &&
    first[3].key === second[3]?.key
}

/** Checks that what was read during a race was there before it, after either call, or after both. */
async function requireMoment (
  moments: readonly Moment[],
  { before, first, second }: Race,
  reader: CallOf<Reader>,
  result: Outcome | undefined
): Promise<void> {
  const allowed: Outcome[] = []
  for (const { model } of moments) {
    const outcome = await outcomeOf(model, reader)
    if (isSame(outcome, result)) return
    allowed.push(outcome)
  }
  assert.fail([
    'a read during two concurrent calls returned a state that never existed:',
    ...[...before, first, second, reader].map(written),
    `  gave ${textOf(result)}`,
    ...new Set(allowed.map((each) => `  at some moment there is ${textOf(each)}`))
  ].join('\n'))
}

// No other user has a number as high.
const PROBES_FROM = 500_000_000
let probes = 0

/** Creations that show whether an idempotency key is known: with another fingerprint a known one is refused. */
function probesOf ({ before, first, second }: Race): Array<CallOf<'createUser'>> {
  const known = new Map([...before, first, second].flatMap((call) =>
    call[0] === 'createUser' && call[3] !== null ? [[call[3].key, [call[1], call[3]]] as const] : []))
  return [...known.values()].map(([user, idempotency]) => {
    const probe = { ...user, id: userOf(PROBES_FROM + probes++).id, email: `probe.${user.email}`, name: 'Probe' }
    return ['createUser', probe, keysOf(probe), { ...idempotency, fingerprint: 'p'.repeat(43) }]
  })
}

async function requireOneOrder (storage: KitStorage, race: Race, delay: Delay): Promise<void> {
  const { before, first, second } = race
  for (const call of before) {
    const outcome = await outcomeOf(storage, call)
    // Otherwise it would seem that a write was lost.
    if ('refused' in outcome && outcome.refused === 'unavailable') {
      assert.fail(`the store was unavailable before the race: ${written(call)}`)
    }
  }
  const readers = readersOf([...before, first, second], { whole: false })
  const late = async () => {
    await wait(delay)
    return outcomeOf(storage, second)
  }
  // Reads meanwhile: what they see is of one moment, and a cache must not keep it.
  const meanwhile = awaitedLater(Promise.all(readers.map(async (reader, i) => {
    await wait({ microtasks: i % 4, turns: i % 3 })
    return outcomeOf(storage, reader)
  })))
  const [ofFirst, ofSecond] = await Promise.all([outcomeOf(storage, first), late()])
  const seen = await meanwhile
  const { moments, ends } = await momentsOf(race)
  for (const [i, reader] of readers.entries()) await requireMoment(moments, race, reader, seen[i])
  // Probes are writes: they come after all else.
  const after = [...readers, ...probesOf(race)]
  const ending = await endingOf(storage, { first: ofFirst, second: ofSecond }, after)
  const allowed: Ending[] = []
  for (const end of ends) {
    const each = await endingOf(end.model, end, after)
    if (isSame(each, ending)) return
    allowed.push(each)
  }
  const [wanted] = allowed
  const differs = after.flatMap((reader, i) => {
    const isAllowed = allowed.some(({ found }) => isSame(found[i], ending.found[i]))
    return isAllowed ? [] : [`  ${written(reader)}\n    gave ${textOf(ending.found[i])}`]
  })
  assert.fail([
    'no serial order of the two calls explains this outcome:',
    ...before.map(written),
    'await Promise.all([',
    `  ${written(first).replace(/^await /, '')},`,
    `  // ${textOf(delay)} later`,
    `  ${written(second).replace(/^await /, '')}`,
    '])',
    `  the first: ${textOf(ofFirst)}`,
    `  the second: ${textOf(ofSecond)}`,
    ...differs,
    `  one allowed ending: ${textOf({ first: wanted?.first, second: wanted?.second })}`,
    ...after.map((reader, i) => `    ${written(reader)}: ${textOf(ending.found[i])}`)
  ].join('\n'))
}

/**
 * Runs a race with each delay, in both directions, each time on records of its own. What both calls return, and what
 * is there afterwards, must be what one order of the two gives.
 */
export async function requireSomeOrder (
  storage: KitStorage,
  raceOf: (n: number) => Race | null,
  delays: readonly Delay[]
): Promise<void> {
  const running: Array<Promise<void>> = []
  for (const [i, delay] of delays.entries()) {
    for (const race of [raceOf(2 * i), turned(raceOf(2 * i + 1))]) {
      if (race === null) continue
      const ended = awaitedLater(requireOneOrder(storage, race, delay))
      running.push(ended)
      // Pruning reaches the records of every race.
      if (prunes(race)) await ended
    }
  }
  await Promise.all(running)
}

const prunes = ({ first, second }: Race): boolean => [first[0], second[0]].includes('prune')

function turned (race: Race | null): Race | null {
  return race === null ? null : { before: race.before, first: race.second, second: race.first }
}
