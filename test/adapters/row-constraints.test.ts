// Rows of plain SQL that the API could not find, show or change: the database refuses them by a constraint, and check
// finds those that came past it.
import { test } from 'tap'
import { USER_CONSTRAINTS } from '../../adapters/knex/dialects/user-constraints.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { databases, run } from '../helpers/cli.ts'
import { plainId } from '../helpers/plain-users.ts'

const MOMENT = "'2026-01-01T00:00:00.000Z'"
const LONG_NAME = `'${'n'.repeat(201)}'`
const LONG_EMAIL = `'${'e'.repeat(255)}'`

/** By constraint, without its prefix: column and literal. `sqlite`: only SQLite accepts the type of the value. */
const misfits: Array<{ constraint: string, column: string, literal: string, sqlite?: boolean }> = [
  { constraint: 'users_id_form', column: 'id', literal: "'42'" },
  { constraint: 'users_name_length', column: 'name', literal: "''" },
  { constraint: 'users_name_length', column: 'name', literal: LONG_NAME },
  { constraint: 'users_name_length', column: 'name', literal: "CAST('n' AS BLOB)", sqlite: true },
  { constraint: 'users_name_key_length', column: 'name_key', literal: "''" },
  { constraint: 'users_email_length', column: 'email', literal: "''" },
  { constraint: 'users_email_length', column: 'email', literal: LONG_EMAIL },
  { constraint: 'users_email_key_length', column: 'email_key', literal: "''" },
  { constraint: 'users_status_known', column: 'status', literal: "'Active'" },
  { constraint: 'users_status_known', column: 'status', literal: "''" },
  { constraint: 'users_status_reason_length', column: 'status_reason', literal: LONG_NAME },
  { constraint: 'users_version_range', column: 'version', literal: '0' },
  { constraint: 'users_version_range', column: 'version', literal: '-1' },
  { constraint: 'users_version_range', column: 'version', literal: "'x'", sqlite: true },
  { constraint: 'users_version_range', column: 'version', literal: '2147483648', sqlite: true },
  ...['created_at', 'updated_at'].flatMap((column) => [
    { constraint: `users_${column}_form`, column, literal: "'infinity'" },
    { constraint: `users_${column}_form`, column, literal: "'2026-01-01 00:00:00'", sqlite: true },
    { constraint: `users_${column}_form`, column, literal: "'2026-13-01T00:00:00.000Z'", sqlite: true },
    { constraint: `users_${column}_form`, column, literal: '1767225600', sqlite: true }
  ]),
  { constraint: 'users_fields_object', column: 'fields', literal: "'[]'" }
]

const columns = [
  'id', 'name', 'name_key', 'email', 'email_key', 'status', 'status_reason', 'version', 'created_at', 'updated_at',
  'fields'
]

/** A row that fits, but for the value of one column. */
function insertion (n: number, column: string, literal: string): string {
  const fitting: Record<string, string> = {
    id: `'${plainId(n)}'`,
    name: "'n'",
    name_key: "'n'",
    email: "'e'",
    email_key: `'e${n}'`,
    status: "'active'",
    status_reason: "''",
    version: '1',
    created_at: MOMENT,
    updated_at: MOMENT,
    fields: "'{}'"
  }
  const values = columns.map((each) => each === column ? literal : fitting[each])
  return `INSERT INTO @fastify_users_users (${columns.join(', ')}) VALUES (${values.join(', ')})`
}

for (const { name, create } of databases) {
  const isSqlite = name === 'sqlite'
  const cases = misfits.filter(({ sqlite = false }) => isSqlite || !sqlite)

  test(`${name} refuses rows that do not fit, with the name of the constraint`, async (t) => {
    const { url, args, open, execute } = await create(t)
    await run(['migrate', ...args], { DATABASE_URL: url })
    for (const [n, { constraint, column, literal }] of cases.entries()) {
      const refused = new RegExp(`fastify_users_${constraint}`)
      await t.rejects(execute(insertion(n, column, literal)), { message: refused }, `${column} ${literal}`)
    }
    await execute(insertion(0, 'name', "'fits'"))
    await execute(insertion(1, 'created_at', "'0001-01-01T00:00:00.000Z'"))
    await execute(insertion(2, 'version', '2147483647'))
    t.match(await run(['check', ...args], { DATABASE_URL: url }), { code: 0, err: '' })
    const storage = open()
    t.teardown(() => storage.close())
    t.match(await storage.verifyCounts(), { users: 3, malformed: [] })
  })
}

for (const { name, create } of databases.filter((each) => each.name === 'postgres')) {
  test(`check finds rows on ${name} that came past a constraint, and says what each asks for`, async (t) => {
    const { url, args, open, execute } = await create(t)
    await run(['migrate', ...args], { DATABASE_URL: url })
    const users = namesOf({}, true).users.replaceAll('"', '')
    for (const { name } of USER_CONSTRAINTS) {
      await execute(`ALTER TABLE @${users} DROP CONSTRAINT fastify_users_${name}`)
    }
    const [first, second] = [insertion(1, 'name', "''"), insertion(2, 'version', '0')]
    for (const statement of [first, second]) await execute(statement)
    const { code, err } = await run(['check', ...args], { DATABASE_URL: url })
    t.equal(code, 1)
    t.match(err, 'users that violate fastify_users_users_name_length (a name has 1 to 200 characters): 1; fix')
    t.match(err, 'users that violate fastify_users_users_version_range (a version is a whole number, 1 or more): 1')
    const storage = open()
    t.teardown(() => storage.close())
    const { malformed } = await storage.verifyCounts()
    t.strictSame(malformed.map(({ constraint, users }) => [constraint, users]), [
      ['fastify_users_users_name_length', 1], ['fastify_users_users_version_range', 1]
    ])
  })
}
