// Rows of plain SQL that the API could not find, show or change: the database refuses them by a constraint, and check
// finds those that came past it.
import { test } from 'tap'
import { USER_CONSTRAINTS } from '../../adapters/knex/dialects/user-constraints.ts'
import { newId } from '../../lib/core/ids.ts'
import { type Database, databases, run } from '../helpers/cli.ts'
import { plainId } from '../helpers/plain-users.ts'

const MOMENT = "'2026-01-01T00:00:00.000Z'"
const LONG_NAME = `'${'n'.repeat(201)}'`
const LONG_EMAIL = `'${'e'.repeat(255)}'`

const good = newId('usr')
const malformedIds = [
  '', 'x', 'usr_', good.slice(0, -1), `${good}0`, ` ${good}`, `${good}\n`, good.toUpperCase(), `usr_8${good.slice(5)}`,
  `usr-${good.slice(4)}`, `key_${good.slice(4)}`, `${good.slice(0, -1)}u`, `${good.slice(0, -1)}é`, '42',
  'c0ffee00-0000-4000-8000-000000000000'
].map((id) => `'${id}'`)
const hiddenInSqlite = [`'${good}' || char(0)`, `'${good}' || char(0) || 'x'`, `CAST('${good}' AS BLOB)`]

/** By constraint, without its prefix: column and literal. `sqlite`: only SQLite accepts the type of the value. */
const misfits: Array<{ constraint: string, column: string, literal: string, sqlite?: boolean }> = [
  ...malformedIds.map((literal) => ({ constraint: 'users_id_form', column: 'id', literal })),
  ...hiddenInSqlite.map((literal) => ({ constraint: 'users_id_form', column: 'id', literal, sqlite: true })),
  { constraint: 'users_name_length', column: 'name', literal: "''" },
  { constraint: 'users_name_length', column: 'name', literal: LONG_NAME },
  { constraint: 'users_name_length', column: 'name', literal: "CAST('n' AS BLOB)", sqlite: true },
  { constraint: 'users_name_key_length', column: 'name_key', literal: "''" },
  { constraint: 'users_email_length', column: 'email', literal: LONG_EMAIL },
  { constraint: 'users_email_key_length', column: 'email_key', literal: "''" },
  { constraint: 'users_status_known', column: 'status', literal: "'Active'" },
  { constraint: 'users_status_reason_length', column: 'status_reason', literal: LONG_NAME },
  { constraint: 'users_version_range', column: 'version', literal: '0' },
  { constraint: 'users_version_range', column: 'version', literal: "'x'", sqlite: true },
  { constraint: 'users_version_range', column: 'version', literal: '2147483648', sqlite: true },
  ...['created_at', 'updated_at'].flatMap((column) => [
    { constraint: `users_${column}_form`, column, literal: "'infinity'" },
    { constraint: `users_${column}_form`, column, literal: "'2026-01-01 00:00:00'", sqlite: true },
    { constraint: `users_${column}_form`, column, literal: "'2026-13-01T00:00:00.000Z'", sqlite: true },
    { constraint: `users_${column}_form`, column, literal: '1767225600', sqlite: true }
  ]),
  ...["'[]'", "'5'", "'null'"].map((literal) => ({ constraint: 'users_fields_object', column: 'fields', literal }))
]

/** A row that fits, but for the value of one column. */
function insertion (n: number, column: string, literal: string): string {
  const row = {
    id: `'${plainId(n)}'`,
    name: "'n'",
    name_key: "'n'",
    email: "'e'",
    email_key: `'e${n}'`,
    version: '1',
    created_at: MOMENT,
    updated_at: MOMENT,
    [column]: literal
  }
  return `INSERT INTO @fastify_users_users (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).join(', ')})`
}

/** Lets rows come past the constraints, as on a connection or after a change of somebody else's. */
const comePast: Record<string, (database: Database) => Promise<void>> = {
  async sqlite ({ execute }) {
    await execute('PRAGMA ignore_check_constraints = ON')
  },
  async postgres ({ execute }) {
    for (const { name } of USER_CONSTRAINTS) {
      await execute(`ALTER TABLE @fastify_users_users DROP CONSTRAINT fastify_users_${name}`)
    }
  }
}
/** Has the table without the constraint of ids, so that it is missing. */
const makeAgain: Record<string, (database: Database) => Promise<void>> = {
  async sqlite ({ execute }) {
    await execute('CREATE TABLE copy AS SELECT * FROM fastify_users_users')
    await execute('DROP TABLE fastify_users_users')
    await execute('ALTER TABLE copy RENAME TO fastify_users_users')
  },
  // It is added again without a look at what is there.
  async postgres ({ execute }) {
    await execute(
      "ALTER TABLE @fastify_users_users ADD CONSTRAINT fastify_users_users_id_form CHECK (id ~ '^usr_') NOT VALID"
    )
  }
}

for (const { name, create } of databases) {
  const isSqlite = name === 'sqlite'

  test(`${name} refuses rows that do not fit, with the name of the constraint`, async (t) => {
    const { url, args, execute } = await create(t)
    await run(['migrate', ...args], { DATABASE_URL: url })
    const cases = misfits.filter(({ sqlite = false }) => isSqlite || !sqlite)
    for (const [n, { constraint, column, literal }] of cases.entries()) {
      const refused = new RegExp(`fastify_users_${constraint}`)
      await t.rejects(execute(insertion(n, column, literal)), { message: refused }, `${column} ${literal}`)
    }
    const key = 'INSERT INTO @fastify_users_api_keys (id, name, scopes, start, digest, created_at) VALUES'
    await t.rejects(execute(`${key} ('${good}', 'n', 'x', 'x', 'x', ${MOMENT})`), { message: /api_keys_id_form/ })
    await execute(insertion(0, 'name', "'fits'"))
    await execute(insertion(1, 'created_at', "'0001-01-01T00:00:00.000Z'"))
    await execute(insertion(2, 'version', '2147483647'))
    await execute(insertion(3, 'id', `'${good}'`))
    t.match(await run(['check', ...args], { DATABASE_URL: url }), { code: 0, err: '' })
  })

  test(`check finds rows on ${name} that came past a constraint, and says what each asks for`, async (t) => {
    const database = await create(t)
    const { url, args, open, execute } = database
    await run(['migrate', ...args], { DATABASE_URL: url })
    const storage = open()
    t.teardown(() => storage.close())
    t.strictSame((await storage.inspect()).missing, [])
    await comePast[name]?.(database)
    const ids = isSqlite ? [...malformedIds, ...hiddenInSqlite] : malformedIds
    for (const [n, id] of ids.entries()) await execute(insertion(n, 'id', id))
    for (const [n, column, literal] of [[100, 'name', "''"], [101, 'version', '0']] as const) {
      await execute(insertion(n, column, literal))
    }
    const { code, err } = await run(['check', ...args], { DATABASE_URL: url })
    t.equal(code, 1)
    for (const line of [
      `users_id_form (an id is usr_ and 26 characters of base32): ${ids.length}`,
      'users_name_length (a name has 1 to 200 characters): 1; fix',
      'users_version_range (a version is a whole number, 1 or more): 1'
    ]) t.match(err, `users that violate fastify_users_${line}`)
    await makeAgain[name]?.(database)
    t.ok((await storage.inspect()).missing.includes('fastify_users_users_id_form'))
  })
}
