import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Storage } from '../../lib/core/storage.ts'
import { type Call, type CallOf, type Outcome, outcomeOf, type Reader, textOf, type Writer, written } from './calls.ts'
import { readersOf } from './everywhere.ts'
import { createModel, type Model } from './model.ts'
import { anyVersion } from './values.ts'
import { awaitedLater } from './while-writing.ts'

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
  found: Outcome[]
}

async function endingOf (
  storage: Storage,
  ends: Omit<Ending, 'found'>,
  readers: readonly Call[]
): Promise<Ending> {
  const found: Outcome[] = []
  for (const reader of readers) found.push(await outcomeOf(storage, reader))
  return { first: ends.first, second: ends.second, found }
}

async function prepared (before: readonly Call[]): Promise<Model> {
  const model = createModel()
  for (const call of before) await outcomeOf(model, call)
  return model
}

const IN_PROGRESS: Outcome = { refused: 'idempotency_in_progress' }

/** Every ending that some order of the two calls allows. */
async function allowedEndings ({ before, first, second }: Race, readers: readonly Call[]): Promise<Ending[]> {
  const model = await prepared(before)
  const [one, other] = [model.copy(), model.copy()]
  const firstFirst = { first: await outcomeOf(one, first), second: await outcomeOf(one, second) }
  const ends = { second: await outcomeOf(other, second), first: await outcomeOf(other, first) }
  const [firstAlone, secondAlone] = [model.copy(), model.copy()]
  const alone = { first: await outcomeOf(firstAlone, first), second: await outcomeOf(secondAlone, second) }
  return Promise.all([
    endingOf(one, firstFirst, readers),
    endingOf(other, ends, readers),
    // A creation may be told that the other with its idempotency key is still running.
    ...isRepetition(first, second)
      ? [
          endingOf(firstAlone, { first: alone.first, second: IN_PROGRESS }, readers),
          endingOf(secondAlone, { first: IN_PROGRESS, second: alone.second }, readers)
        ]
      : []
  ])
}

function isRepetition (first: Call, second: Call): boolean {
  return first[0] === 'createUser' && second[0] === 'createUser' && first[3] !== null &&
    first[3].key === second[3]?.key
}

/** Checks that what was read during a race was there before it, after either call, or after both. */
async function requireMoments (
  { before, first, second }: Race,
  readers: Array<CallOf<Reader>>,
  results: readonly Outcome[]
): Promise<void> {
  const orders = [[], [first], [second], [first, second], [second, first]]
  const models = await Promise.all(orders.map((calls) => prepared([...before, ...calls])))
  for (const [i, reader] of readers.entries()) {
    const allowed = await Promise.all(models.map((model) => outcomeOf(model, reader)))
    if (allowed.some((each) => textOf(each) === textOf(results[i]))) continue
    assert.fail([
      'a read during two concurrent calls gives what is there at no moment:',
      ...[...before, first, second, reader].map(written),
      `  gave ${textOf(results[i])}`,
      ...new Set(allowed.map((each) => `  at some moment there is ${textOf(each)}`))
    ].join('\n'))
  }
}

/** Creations that show whether an idempotency key is known: with another fingerprint a known one is refused. */
function probesOf ({ before, first, second }: Race): Array<CallOf<'createUser'>> {
  const known = new Map([...before, first, second].flatMap((call) =>
    call[0] === 'createUser' && call[3] !== null ? [[call[3].key, { call, idempotency: call[3] }] as const] : []))
  return [...known.values()].map(({ call: [, user], idempotency }, i) => {
    const emailKey = `probe${i}.${user.id}`
    const probe = { ...user, id: `${user.id.slice(0, -6)}zzz${i}${user.id.slice(-2)}`, email: emailKey, name: 'Probe' }
    const other = { ...idempotency, fingerprint: 'p'.repeat(43) }
    return ['createUser', probe, { emailKey, nameKey: 'probe' }, other]
  })
}

async function requireOneOrder (storage: Storage, race: Race, delay: Delay): Promise<void> {
  const { before, first, second } = race
  for (const call of before) await outcomeOf(storage, call)
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
  await requireMoments(race, readers, await meanwhile)
  const ending = await endingOf(storage, { first: ofFirst, second: ofSecond }, [...readers, ...probesOf(race)])
  const allowed = await allowedEndings(race, [...readers, ...probesOf(race)])
  if (allowed.some((each) => textOf(each) === textOf(ending))) return
  const [wanted] = allowed
  const differs = [...readers, ...probesOf(race)].flatMap((reader, i) => {
    const results = new Set(allowed.map(({ found }) => textOf(found[i])))
    return results.has(textOf(ending.found[i])) ? [] : [`  ${written(reader)}\n    gave ${textOf(ending.found[i])}`]
  })
  assert.fail([
    'no order of two concurrent calls has this ending:',
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
    ...[...readers, ...probesOf(race)].map((reader, i) => `    ${written(reader)}: ${textOf(ending.found[i])}`)
  ].join('\n'))
}

/** Deletes the users of a race, so that the store stays small. */
async function tidy (storage: Storage, { before, first, second }: Race): Promise<void> {
  const calls = [...before, first, second, ...probesOf({ before, first, second })]
  const ids = calls.flatMap((call) => (call[0] === 'createUser' ? [call[1].id] : []))
  for (const id of ids) await storage.deleteUser(id, anyVersion)
}

/**
 * Runs a race with every delay, in both directions, each time on records of its own. What both calls return, and what
 * is there afterwards, must be what one order of the two gives.
 */
export async function requireSomeOrder (storage: Storage, raceOf: (n: number) => Race): Promise<void> {
  const running: Array<Promise<void>> = []
  for (const [i, delay] of DELAYS.entries()) {
    for (const race of [raceOf(2 * i), turned(raceOf(2 * i + 1))]) {
      const ended = awaitedLater(requireOneOrder(storage, race, delay).then(() => tidy(storage, race)))
      running.push(ended)
      // Pruning reaches the records of every race.
      if (prunes(race)) await ended
    }
  }
  await Promise.all(running)
}

const prunes = ({ first, second }: Race): boolean => [first[0], second[0]].includes('pruneIdempotency')

function turned ({ before, first, second }: Race): Race {
  return { before, first: second, second: first }
}
