// Look-ups and searches read few rows, whatever the size of the table.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import type { Dialect } from '../../adapters/knex/dialects/dialect.ts'
import { postgresDialect } from '../../adapters/knex/dialects/postgres/dialect.ts'
import { sqliteDialect } from '../../adapters/knex/dialects/sqlite/dialect.ts'
import { otherConditions } from '../../adapters/knex/user-filters.ts'
import { ofTenant, pageStatement, searchStatement } from '../../adapters/knex/pages.ts'
import type { Condition } from '../../adapters/knex/dialects/value-sql.ts'
import { fieldIs } from '../../adapters/knex/schema/field-indexes.ts'
import { sortedStatement } from '../../adapters/knex/sorted-pages.ts'
import { USER_COLUMNS } from '../../adapters/knex/tables/columns.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import type { Statement } from '../../adapters/knex/drivers/driver.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import type { SortedPageRequest } from '../../lib/storage/storage.ts'
import { migrated } from '../helpers/migrated.ts'
import { USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { connected, pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

type GivenCondition = Condition | null | ((dialect: Dialect) => Condition)
type From = { offset: number } | { after: string }

const ID = 'usr_00000000000000000000010000'

function literal (value: unknown): string {
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(', ')}]`
  return typeof value === 'string' ? `'${value.replaceAll('\'', '\'\'')}'` : String(value)
}

/** A statement with values in place of its placeholders, as EXPLAIN needs it. */
const filledIn = ({ sql, params }: Statement) =>
  sql.replaceAll(/[$?](\d+)/g, (_, n) => literal(params[Number(n) - 1]))

/** Makes the function that returns the plans of a page in PostgreSQL, with many users, and in SQLite. */
async function planner (t: Test, { tenants = false } = {}) {
  const schema = temporarySchema(t)
  const table = `"${schema}".fastify_users_users`
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema }))
  await storage.open({ migrate: true, filterable: ['plan'] })
  await sql(`insert into ${table} ${USER_COLUMN_LIST} select 'usr_' || lpad(i::text, 26, '0'), 'Name ' || i,
    'name ' || i, i || '@example.org', i || '@example.org', 1, now(), now() from generate_series(1, 20000) i`)
  await sql(`update ${table} set fields = '{"plan":"pro"}' where email like '%7@example.org'`)
  if (tenants) await sql(`update ${table} set tenant = 't' || (hashtext(id) & 127)`)
  await sql(`analyze ${table}`)
  const filename = join(await temporaryDirectory(t), 'users.db')
  const fileStore = sqlite({ filename })
  await fileStore.open({ migrate: true, filterable: ['plan'] })
  await fileStore.close()
  const file = sqliteHost(filename)
  t.teardown(() => file.destroy())

  async function plans (statementOf: (dialect: Dialect, table: string) => Statement) {
    const onPg = await sql(`explain ${filledIn(statementOf(postgresDialect, table))}`)
    const onFile: Array<{ detail: string }> =
      await file.raw(`explain query plan ${filledIn(statementOf(sqliteDialect, 'fastify_users_users'))}`)
    return {
      onPg: onPg.map((row) => row['QUERY PLAN']).join('\n'),
      onFile: onFile.map(({ detail }) => detail).join('\n')
    }
  }
  return {
    plan: (given: GivenCondition, from: From = { offset: 0 }) => plans((dialect, of) => {
      const condition = typeof given === 'function' ? given(dialect) : given
      return pageStatement(dialect, of, USER_COLUMNS, condition, { order: 'asc', limit: 20, from })
    }),
    /** Of a page in another order. A condition that is made for a database is a search. */
    inOrder: (given: GivenCondition, page: Omit<SortedPageRequest, 'limit'>) => plans((dialect, of) => {
      const isSearch = typeof given === 'function'
      const condition = isSearch ? given(dialect) : given
      return sortedStatement(dialect, of, { condition, page: { ...page, limit: 20 }, counted: null, isSearch })
    }),
    /** How often PostgreSQL has planned a statement anew that a connection was asked for sixteen times. */
    plannedAnew: ({ sql: text, params = [] }: Statement) => connected(pgUrl(), async (client) => {
      await client.query(`set search_path = "${schema}"`)
      for (let i = 0; i < 16; i++) await client.query({ name: 'kept', text, values: [...params] })
      const { rows } = await client.query('select custom_plans from pg_prepared_statements')
      return Number(rows[0]?.custom_plans)
    })
  }
}

/** The condition of users who have a word, by its index. */
function hasWord (dialect: Dialect): Condition {
  const names = namesOf({}, false)
  return { sql: dialect.words.has(names), values: [dialect.words.query([['name199']])] }
}

test('every look-up and every search uses an index', async (t) => {
  const { plan } = await planner(t)
  const email = await plan({ sql: 'email_key = ?', values: ['5@example.org'] })
  t.match(email.onPg, 'fastify_users_users_email_unique')
  t.notMatch(email.onPg, 'Seq Scan')
  t.match(email.onFile, /SEARCH fastify_users_users USING (COVERING )?INDEX sqlite_autoindex_fastify_users_users_2/)

  const q = await plan(hasWord)
  t.match(q.onPg, 'fastify_users_users_words')
  t.notMatch(q.onPg, 'Seq Scan')
  t.match(q.onFile, /SCAN fastify_users_user_words VIRTUAL TABLE/)
  t.match(q.onFile, 'SEARCH fastify_users_users USING INTEGER PRIMARY KEY')

  const field = await plan((dialect) => fieldIs(dialect, 'plan', 'pro'))
  t.match(field.onPg, 'fastify_users_field_plan_')
  t.notMatch(field.onPg, 'Seq Scan')
  const search = (kind: string) =>
    `SEARCH fastify_users_users USING ${kind}INDEX fastify_users_field_plan_\\w{8} \\(<expr>=\\? AND <expr>=\\?\\)`
  t.match(field.onFile, new RegExp(`${search('COVERING ')}\\n[^]*${search('')}`))
  t.notMatch(field.onFile, 'TEMP B-TREE', 'the index has them in the order of ids')

  for (const given of [[5, 6, 7], ['no', 'team'], [true, false]]) {
    const among = await plan((dialect) => {
      const [first] = otherConditions(dialect, { anyOf: { plan: given } })
      if (first === undefined) throw new Error('it is a condition')
      return first
    })
    t.match(among.onPg, /Index (Only )?Scan (using|on) fastify_users_field_plan_/)
    t.notMatch(among.onPg, /Seq Scan on fastify_users_users|BitmapOr/)
    t.match(among.onFile, /USING (COVERING )?INDEX fastify_users_field_plan_/)
    t.notMatch(among.onFile, /SCAN fastify_users_users/)
  }

  const after = await plan(null, { after: ID })
  t.match(after.onPg, /Index (Only )?Scan using fastify_users_users_pkey/)
  t.match(after.onFile, /SEARCH fastify_users_users USING INDEX sqlite_autoindex_fastify_users_users_1 \(id>\?\)/)
})

test('what a tenant looks up and searches does not depend on the number of others', async (t) => {
  const { plan, inOrder } = await planner(t, { tenants: true })
  const of = (condition: Condition | null): Condition => {
    const tenant = ofTenant({ tenant: 't7' })
    if (tenant === null) throw new Error('a tenant is a condition')
    if (condition === null) return tenant
    return { sql: `${condition.sql} AND ${tenant.sql}`, values: [...condition.values, ...tenant.values] }
  }
  for (const from of [{ offset: 0 }, { after: ID }]) {
    const { onPg, onFile } = await plan(of(null), from)
    t.match(onPg, /Index (Only )?Scan using fastify_users_users_tenant /)
    t.notMatch(onPg, /Seq Scan|Sort|users_pkey/)
    t.match(onFile, /SEARCH fastify_users_users USING INDEX fastify_users_users_tenant \(tenant=\?/)
    t.notMatch(onFile, 'TEMP B-TREE')
  }
  const email = await plan(of({ sql: 'email_key = ?', values: ['5@example.org'] }))
  t.match(email.onPg, /fastify_users_users_(email_unique|tenant_email_key)/)
  t.notMatch(email.onPg, 'Seq Scan')
  const suspended = await plan(of({ sql: "status = 'suspended'", values: [] }))
  t.match(suspended.onPg, /Index (Only )?Scan using fastify_users_users_(tenant_)?suspended/)
  t.match(suspended.onFile, /(INDEX fastify_users_users_tenant_suspended \(tenant=\?\)[^]*){2}/)
  t.notMatch(suspended.onFile, /TEMP B-TREE|users_tenant /)
  for (const [sort, index] of [['nameKey', 'name_key'], ['emailKey', 'email_key']] as const) {
    const { onPg, onFile } = await inOrder(of(null), { sort, order: 'desc', from: { offset: 0 } })
    t.match(onPg, `fastify_users_users_tenant_${index}`)
    t.match(onFile, `SEARCH fastify_users_users USING INDEX fastify_users_users_tenant_${index} (tenant=?)`)
  }
})

test('other orders walk an index in both directions, from the beginning and behind a place', async (t) => {
  const { inOrder } = await planner(t)
  const sorts = [
    ['nameKey', 'name 5', 'fastify_users_users_name_key'],
    ['emailKey', '5@example.org', '(fastify_users_users_email_unique|sqlite_autoindex_fastify_users_users_2)'],
    ['updatedAt', '2026-01-31T12:00:00.000Z', 'fastify_users_users_updated_at'],
    [{ field: 'plan' }, 'pro', 'fastify_users_field_plan_']
  ] as const
  for (const [sort, value, index] of sorts) {
    for (const order of ['asc', 'desc'] as const) {
      for (const from of [{ offset: 0 }, { behind: { value, id: ID } }]) {
        const { onPg, onFile } = await inOrder(null, { sort, order, from })
        t.match(onPg, new RegExp(`Index Scan (Backward )?using "?${index}`))
        t.notMatch(onPg.replaceAll(/Aggregate[^\n]*\n *-> {2}Seq Scan/g, ''), 'Seq Scan', 'only the total reads all')
        t.match(onFile, new RegExp(`(SEARCH|SCAN) fastify_users_users USING INDEX ${index}`))
        if ('behind' in from) t.notMatch(onFile, /SCAN fastify_users_users USING INDEX/, 'from the place on')
        // The few users of a page, and those of one address, which are of different tenants.
        t.notMatch(onFile, /SEARCH[^\n]*field_plan[^\n]*\nUSE TEMP B-TREE/)
      }
    }
  }
})

test('a search in another order begins with the index of words, however few have them', async (t) => {
  const { inOrder } = await planner(t)
  for (const sort of ['nameKey', 'updatedAt', { field: 'plan' }] as const) {
    const { onPg, onFile } = await inOrder(hasWord, { sort, order: 'desc', from: { offset: 0 } })
    t.match(onPg, /Bitmap Index Scan on fastify_users_users_words/)
    t.notMatch(onPg, /users_(name_key|updated_at)|field_plan|Seq Scan/)
    t.match(onFile, /SCAN fastify_users_user_words VIRTUAL TABLE/)
    t.notMatch(onFile, /users_(name_key|updated_at)|field_plan|SCAN fastify_users_users/)
  }
})

// A planner that finds a plan for these values alone a little better makes one each time, which takes as long as the
// rest of the statement.
test('PostgreSQL keeps the plans of first pages', async (t) => {
  const { plannedAnew } = await planner(t)
  const names = namesOf({}, false)
  const page = { order: 'asc', limit: 20, from: { offset: 0 } } as const
  const search = { found: hasWord(postgresDialect), walked: { sql: 'name_words = ?', values: ['no'] }, numbers: null }
  const statements = [
    searchStatement(postgresDialect, names.users, USER_COLUMNS, search, page),
    ...(['nameKey', 'emailKey', 'updatedAt', { field: 'plan' }] as const).map((sort) =>
      sortedStatement(postgresDialect, names.users, {
        condition: null, page: { ...page, sort }, counted: null, isSearch: false
      }))
  ]
  // The first five are.
  for (const statement of statements) t.equal(await plannedAnew(statement), 5, statement.sql)
})

// The cost of a scan that is switched off, and used all the same, is beyond `jit_above_cost`.
test('each function that switches scans off compiles no plan', async (t) => {
  const schema = temporarySchema(t)
  await migrated(t, postgres({ connection: pgUrl(), schema }))
  const functions = await sql(`SELECT proname AS name, 'jit=off' = ANY(proconfig) AS plain FROM pg_proc
    WHERE pronamespace = '"${schema}"'::regnamespace AND 'enable_seqscan=off' = ANY(proconfig)`)
  t.ok(functions.some(({ name }) => name === 'fastify_users_number_events'))
  t.strictSame(functions.filter(({ plain }) => plain !== true), [])
})
