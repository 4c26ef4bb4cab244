// PostgreSQL's triggers record every change below the next boundary, and read no more than they must.
import fc from 'fast-check'
import type pg from 'pg'
import { test, type Test } from 'tap'
import { type Names, namesOf } from '../../adapters/knex/tables/names.ts'
import { postgres } from '../../adapters/postgres.ts'
import { newId } from '../../lib/core/ids.ts'
import { from } from '../helpers/level.ts'
import { migrated } from '../helpers/migrated.ts'
import { USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { connectPg } from '../helpers/postgres.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'

const MOVE = 'fastify_users_counting_watermark_move'
/** What the sequence is set to by the migration. */
const LOWEST = Buffer.from('00000000').readBigInt64BE()

async function migratedSchema (t: Test) {
  const schema = temporarySchema(t)
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema }))
  return { storage, names: namesOf({ schema }, true) }
}

/** How the state came to have its boundary. */
type Way = 'moved' | 'copied' | 'copied past the trigger'

/** Gives the state a boundary: moved to it, or copied to where only the schema had been copied before. */
async function setBoundary (client: pg.Client, names: Names, way: Way, boundary: string, next: string): Promise<void> {
  const { users, state, watermark } = names
  await client.query(`TRUNCATE ${users} CASCADE`)
  if (way === 'moved') {
    await client.query(`SELECT setval('${watermark}', ${LOWEST})`)
    await client.query(`UPDATE ${state} SET next_boundary = $1`, [boundary])
    return
  }
  // The sequence was never set.
  const rows = `DELETE FROM ${state};
    INSERT INTO ${state} (boundary, next_boundary, round, total) VALUES ('', '${boundary}', '', 0)`
  const pastTrigger = `ALTER TABLE ${state} DISABLE TRIGGER ${MOVE}; ${rows};
    ALTER TABLE ${state} ENABLE ALWAYS TRIGGER ${MOVE}`
  await client.query(`SELECT setval('${watermark}', 1, false); ${way === 'copied' ? rows : pastTrigger}`)
  if (way !== 'copied past the trigger') return
  await client.query(`BEGIN; TRUNCATE ${users} CASCADE; ROLLBACK;
    BEGIN; UPDATE ${state} SET next_boundary = '${next}'; ROLLBACK`)
}

// Around everything that the sequence can express, and ids as no server makes them.
const timedId = fc.integer({ min: 0, max: 40 }).map((n) => `usr_0${(n + 2 ** 29).toString(32).padStart(8, 'z')}0`)
const oddId = fc.constantFrom(
  '', 'a', 'usr_', 'usr_0', 'usr_01m', 'usr_0zzzzzzzz', 'usr_0zzzzzzzzz', 'usr_0ZZZZZZZZZ', 'usr_0{', 'usr_0é',
  'usr_0~~~~~~~~~', 'usr_0\\\\\\\\\\\\\\\\', 'usr_1', 'usr_7zzz', 'ÿ', '\u{10FFFF}'
)
const anyId = fc.oneof({ weight: 3, arbitrary: timedId }, oddId)
const aCase = fc.record({
  boundary: anyId,
  ids: fc.uniqueArray(anyId, { minLength: 1, maxLength: 6 }),
  goesBack: fc.boolean(),
  way: fc.constantFrom<Way>('moved', 'copied', 'copied past the trigger'),
  next: anyId
})
const byBytes = (a: string, b: string) => Buffer.from(a).compare(Buffer.from(b))

test('a user below the boundary is recorded, whatever the boundary and the ids are', async (t) => {
  const { names } = await migratedSchema(t)
  const { users, changes, state, watermark, quoted } = names
  const client = await connectPg(t)
  const numbers = new Set<unknown>()
  // Counting relies on nothing that another constraint says.
  await sql(`ALTER TABLE ${users} DROP CONSTRAINT ${quoted('users_id_form')}`)
  await fc.assert(fc.asyncProperty(aCase, async ({ boundary, ids, goesBack, way, next }) => {
    await setBoundary(client, names, way, boundary, next)
    // One that goes back must not open a gap, since it may be rolled back itself.
    if (goesBack) await client.query(`BEGIN; UPDATE ${state} SET next_boundary = ''; ROLLBACK`)
    await client.query(`INSERT INTO ${users} ${USER_COLUMN_LIST}
      SELECT id, 'n', 'n', 'e', 'e' || id, 1, now(), now() FROM unnest($1::text[]) AS id`, [ids])
    const { rows } = await client.query(`SELECT user_id, change FROM ${changes} ORDER BY user_id`)
    const below = ids.filter((id) => byBytes(id, boundary) < 0).sort(byBytes)
    t.strictSame(rows, below.map((id) => ({ user_id: id, change: 1 })), `${boundary}: ${ids}`)
    numbers.add((await client.query(`SELECT last_value FROM ${watermark}`)).rows[0].last_value)
  }), { numRuns: from('nightly') === false ? 600 : 100 })
  t.ok(numbers.size > 20, 'the sequence followed')
})

test('a new user is compared with the sequence, and only below that with the table of the state', async (t) => {
  const { names: { users, changes, state }, storage } = await migratedSchema(t)
  const insert = (id: string) => sql(`INSERT INTO ${users} ${USER_COLUMN_LIST}
    VALUES ('${id}', 'n', 'n', 'e', '${id}', 1, now(), now())`)
  const recorded = async () => (await sql(`SELECT user_id FROM ${changes}`)).length
  const ids = Array.from({ length: 20 }, () => newId('usr'))
  // A boundary that the sequence does not know shows which of the two is read.
  await sql(`ALTER TABLE ${state} DISABLE TRIGGER USER; UPDATE ${state} SET next_boundary = 'zzz'`)
  for (const id of ids) await insert(id)
  t.equal(await recorded(), 0)
  await sql(`ALTER TABLE ${state} ENABLE TRIGGER USER; UPDATE ${state} SET next_boundary = 'zzz'`)
  await insert(newId('usr'))
  t.equal(await recorded(), 1)
  // Enabled as other triggers are, it would not run on a subscriber.
  t.strictSame((await storage.inspect()).missing, [MOVE])
  await sql(`ALTER TABLE ${state} ENABLE ALWAYS TRIGGER ${MOVE}`)
  t.strictSame((await storage.inspect()).missing, [])
})

test('where only the schema was copied, the sequence is unknown until the boundary moves', async (t) => {
  const { names: { users, watermark }, storage } = await migratedSchema(t)
  await sql(`SELECT setval('${watermark}', 1, false)`)
  const isKnown = async () =>
    (await sql(`SELECT pg_sequence_last_value('${watermark}') IS NOT NULL AS known`))[0]?.['known']
  t.equal(await isKnown(), false)
  await sql(`INSERT INTO ${users} ${USER_COLUMN_LIST} SELECT 'usr_0' || lpad(n::text, 25, '0'), 'n', 'n', 'e', n::text,
    1, now(), now() FROM generate_series(1, 2000) AS n`)
  await storage.rebuildCounts()
  t.equal(await isKnown(), true)
})
