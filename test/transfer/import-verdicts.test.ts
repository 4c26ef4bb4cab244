// A dry run says what the run does, and a run does what importing one row after the other would.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { randomFrom } from '../../adapters/testing/shrink.ts'
import type { ImportOptions, ImportResult, Users } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { from } from '../helpers/level.ts'
import { stores } from '../helpers/stores.ts'

const options = {
  fields: {
    schema: Type.Object({
      legacyId: Type.Optional(Type.Integer()),
      code: Type.Optional(Type.String()),
      plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free' })
    }),
    unique: ['legacyId', 'code']
  },
  eventLog: true,
  groups: true
} as const

/** Rows over so few keys that they meet each other and the users that are there, in every way. */
function rowsOf (random: () => number, count: number, ids: readonly string[]): object[] {
  const below = (n: number): number => Math.floor(random() * n)
  const maybe = (chance: number, members: object): object => random() < chance ? members : {}
  return Array.from({ length: count }, () => ({
    name: random() < 0.05 ? '' : `N${below(3)}`,
    email: `${random() < 0.5 ? 'u' : 'U'}${below(Math.max(9, count / 4))}@example.org`,
    ...maybe(0.5, { legacyId: below(Math.max(9, count / 5)) }),
    ...maybe(0.3, { code: `c${below(9)}` }),
    ...maybe(0.3, { plan: ['free', 'pro', 'none'][below(20) === 0 ? 2 : below(2)] }),
    ...maybe(0.25, { id: ids[below(ids.length)] }),
    ...maybe(0.5, { createdAt: `20${10 + below(9)}-01-01T00:00:00Z` }),
    ...maybe(0.4, { groups: [['A', 'C'], ['a'], ['B', 'A'], 'b', '["A","a"]', []][below(6)] }),
    ...maybe(0.05, { more: 1 })
  }))
}

async function resultsOf (users: Users, rows: Iterable<object>, settings: ImportOptions): Promise<ImportResult[]> {
  const results: ImportResult[] = []
  const summary = await users.import(rows, { ...settings, onResult: (result) => { results.push(result) } })
  const counted = (status: ImportResult['status']) => results.filter((result) => result.status === status).length
  for (const status of ['created', 'updated', 'skipped', 'refused'] as const) {
    if (summary[status] !== counted(status)) throw new Error(`${status}: ${summary[status]} of ${counted(status)}`)
  }
  return results
}

/** Who is there and in which groups, without what two runs do not have in common. */
async function stateOf (users: Users): Promise<string[]> {
  const all: string[] = []
  for await (const { id, createdAt, updatedAt, ...user } of users.iterate()) {
    const { data } = await users.groups.of(id)
    all.push(JSON.stringify([user, data.map(({ name }) => name).sort()]))
  }
  for (const { name, members } of (await users.groups.list()).data) all.push(`${name}: ${members}`)
  return all.sort()
}

/** What the event log has of users and of who joined groups. */
async function toldOf ({ events }: Users): Promise<string[]> {
  const told: string[] = []
  const { data: [last] } = await events.list({ limit: 1 })
  for await (const { id, type, data } of events.after()) {
    const { email, version, name, added = [] } = Object(data)
    if (type.startsWith('user.')) told.push(`${type} ${email} ${version}`)
    else if (type === 'group.members_changed') told.push(...added.map(() => `${type} ${name}`))
    if (id === last?.id) break
  }
  return told.sort()
}

const idOf = (result: ImportResult | undefined) =>
  result === undefined || result.status === 'refused' ? undefined : result.id
// A dry run makes no user, so it has neither for a new one.
const withoutId = (result: ImportResult) => ({ ...result, id: undefined, version: undefined })

for (const { name, create } of stores) {
  for (const [n, onConflict] of (['fail', 'skip', 'update'] as const).entries()) {
    for (const [m, by] of ['email', 'id', 'legacyId'].entries()) {
      // The judgement is the same on every store.
      const skip = name !== 'memory' && n !== m && from('nightly')
      test(`${name}: ${onConflict} by ${by}`, { skip }, async (t) => {
        const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
        const random = randomFrom(seed)
        const [together, alone] = [await create(t), await create(t)]
        const [{ app: first }, { app: second }] =
          [await testApp(t, { ...options, storage: together }), await testApp(t, { ...options, storage: alone })]
        const ids = Array.from({ length: 12 }, (_, n) => `usr_01jzzzzzzzezzr0000000000${String(n).padStart(2, '0')}`)
        const there = [0, 1, 2, 3, 4].map((n) => withoutType({
          id: ids[n], name: 'N0', email: `u${n}@example.org`, legacyId: n, code: `c${n}`
        }))
        for (const { users } of [first, second]) {
          for (const name of ['A', 'B']) await users.groups.create({ name })
          await users.import(there)
        }
        const rows = rowsOf(random, name !== 'memory' ? 150 : from('nightly') === false ? 1200 : 300, ids)

        const dry = await resultsOf(first.users, rows, { onConflict, by, dryRun: true })
        const run = await resultsOf(first.users, rows, { onConflict, by })
        t.strictSame(dry.map(withoutId), run.map(withoutId), `the dry run is true; SEED=${seed}`)
        t.ok(dry.every((result, n) => idOf(result) === undefined || idOf(result) === idOf(run[n])))
        t.strictSame(run.map(({ line }) => line), rows.map((_row, n) => n + 1))

        const oneByOne: object[] = []
        for (const [n, row] of rows.entries()) {
          const [result] = await resultsOf(second.users, [row], { onConflict, by })
          if (result !== undefined) oneByOne.push({ ...withoutId(result), line: n + 1 })
        }
        t.strictSame(run.map(withoutId), oneByOne, `as if one after the other; SEED=${seed}`)
        t.strictSame(await stateOf(first.users), await stateOf(second.users), `the same users; SEED=${seed}`)
        t.strictSame(await toldOf(first.users), await toldOf(second.users), 'the same events')
      })
    }
  }
}
