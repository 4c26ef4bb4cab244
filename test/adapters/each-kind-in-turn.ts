// Each kind of statement in turn on two ways to the same tables of PostgreSQL, a pool of our own and a host's instance,
// for tests of what a connection or a schema has.
import type { Test } from 'tap'
import { type KnexStorage, knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import type { Created } from '../../adapters/testing/index.ts'
import { EACH_KIND, EACH_WAY, TABLES } from '../helpers/each-kind.ts'
import { registered, transactionsOf } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { pgHost } from '../helpers/postgres.ts'

// Those of them that race, draw what they ask for or compare many values send what the others do, again and again: only
// the night has them.
const AGAIN = new RegExp([
  'random', 'concurrent', 'crosswise', 'while (?:others|its users)', 'same time', 'long logs', 'loses no write',
  'all writers', 'a field has the same value', 'find what users have now', 'folded in no way',
  'in every order and for every filter'
].join('|'))
export const IN_TURN = EACH_KIND.filter((duty) => from('nightly') === false || !AGAIN.test(duty))
/** Where not the texts of statements matter, but how values are sent and compared. */
export const WAYS_IN_TURN = from('nightly') === false ? IN_TURN : EACH_WAY

/** Runs duties as `t`, one after the other, on stores of one database, which `empty` empties in between. */
export async function runInTurn (
  t: Test,
  subjectFor: (turn: number, duty: string) => Created,
  empty: () => Promise<unknown>,
  duties: readonly string[] = IN_TURN
): Promise<void> {
  let turn = 0
  let duty = ''
  // Fewer rows have every kind of page too.
  const { tests } = registered(() => subjectFor(turn, duty), { quick: from('nightly') !== false })
  const runs = tests.filter(({ name }) => duties.includes(name))
  t.strictSame(runs.map(({ name }) => name), duties)
  for (const { name, run } of runs) {
    duty = name
    await t.resolves(run(), name)
    await empty()
    turn++
  }
}

/** A storage on each. The duties of the kit get both in turn, those of transactions that of the host. */
export function ownAndHost (t: Test, connection: string, schema: string | undefined) {
  const naming = schema === undefined ? {} : { schema }
  const host = pgHost(t, { connection })
  const own: KnexStorage = postgres({ connection, ...naming, listen: false, pool: { max: 4 } })
  t.teardown(() => own.close())
  return {
    own,
    /** `members`: which both have instead of theirs. */
    subjectsWith: (members: Partial<KnexStorage> = {}) => (turn: number, duty: string): Created =>
      turn % 2 === 0 || duty.startsWith('join')
        ? { storage: { ...knexStorage(host, naming), ...members }, begin: transactionsOf(host) }
        : { storage: { ...own, ...members, close: async () => {} } }
  }
}

/** The statement that empties the tables of a schema. */
export const emptying = (schema: string): string =>
  TABLES.map((table) => `DELETE FROM "${schema}".fastify_users_${table}`).join('; ')
