// fastify-users adopt, with tables of others.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { readMapping, userOfColumns } from '../../cli/adopt-mapping.ts'
import { typesOf } from '../../lib/fields/schema-types.ts'
import { fieldValueOf, JsonText } from '../../cli/source-values.ts'
import { databases } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const fields = {
  type: 'object',
  properties: {
    legacyId: { type: 'integer' },
    plan: { enum: ['free', 'pro'], default: 'free' },
    active: { type: 'boolean' }
  }
}
const MAP = 'name=full_name,email=email,createdAt=created_at,updatedAt=changed_at,' +
  'fields.legacyId=id,plan=plan,active=on'
const TABLE = `CREATE TABLE @accounts (
  id INTEGER PRIMARY KEY, full_name TEXT, email TEXT,
  created_at TIMESTAMP, changed_at TIMESTAMP, plan TEXT, "on" BOOLEAN
)`
const ROWS = `INSERT INTO @accounts VALUES
  (1, 'Ann', 'ann@example.org', '2019-05-01 12:00:00', '2020-01-01 00:00:00', 'pro', TRUE),
  (3, 'Bob', 'bob at example.org', '2019-05-02 12:00:00', '2020-01-01 00:00:00', 'free', FALSE),
  (4, 'Ann again', 'ANN@example.org', '2019-05-03 12:00:00', '2020-01-01 00:00:00', NULL, NULL),
  (7, NULL, 'cid', '2019-05-04 12:00:00', '2020-01-01 00:00:00', 'gold', NULL),
  (9, 'Dan', 'dan@example.org', '2018-05-01 12:00:00', '2020-01-01 00:00:00', 'free', FALSE)`

for (const { name, skip, create } of databases) {
  test(`adopts a table of ${name}: dry run, run, resumption, and what came later`, { skip }, async (t) => {
    const { cli, execute, tableOf } = await create(t)
    const file = join(await temporaryDirectory(t), 'fields.json')
    await writeFile(file, JSON.stringify(fields))
    await cli('migrate')
    await execute(TABLE)
    await execute(ROWS)
    const adopt = (...given: string[]) => cli('adopt', '--table', tableOf('accounts'), '--map', MAP, '--fields', file,
      '--unique', 'legacyId', ...given)

    t.strictSame(await adopt(), {
      code: 1, out: '', err: 'no index keeps legacyId unique: run fastify-users migrate --unique legacyId\n'
    })
    await cli('migrate', '--unique', 'legacyId')
    const reasons = [
      '2 × email must be an e-mail address: 3, 7', '1 × email must be unique: 4', '1 × name is required: 7',
      '1 × plan must be one of "free", "pro": 7', 'the last id: 9'
    ]
    const summary = 'created 2, updated 0, skipped 0, refused 3\n'
    const err = [...reasons, '3 users were refused', ''].join('\n')
    t.strictSame(await adopt('--dry-run'), { code: 1, out: `dry run: ${summary}`, err })
    t.equal((await cli('export')).out, '')
    t.strictSame(await adopt(), { code: 1, out: summary, err })
    const users = (await cli('export')).out.trimEnd().split('\n').map((line) => JSON.parse(line))
    const [made, changed] = ['2019-05-01T12:00:00.000Z', '2020-01-01T00:00:00.000Z']
    t.match(users, [
      { name: 'Dan', legacyId: 9, plan: 'free', active: false, createdAt: '2018-05-01T12:00:00.000Z' },
      { name: 'Ann', legacyId: 1, plan: 'pro', active: true, createdAt: made, updatedAt: changed }
    ], 'in the order of creation')

    await execute("UPDATE @accounts SET email = 'bob@example.org', changed_at = '2026-01-02 10:00:00' WHERE id = 3")
    await execute("UPDATE @accounts SET full_name = 'Anna', changed_at = '2026-01-02 11:00:00' WHERE id = 1")
    const update = ['--on-conflict', 'update', '--by', 'legacyId']
    const later = await adopt('--since', '2026-01-02T10:00:00Z', ...update, '--json', '--report', 'all')
    t.match(later, { code: 0, err: 'the last id: 3\n' })
    const [first, second, last] = later.out.trimEnd().split('\n').map((line) => JSON.parse(line))
    t.match([first, second], [{ status: 'updated', key: '1', line: 1 }, { status: 'created', key: '3' }])
    t.match(last, { summary: { created: 1, updated: 1 } })
    t.match((await cli('export', '--email', 'ann@example.org')).out,
      /"name":"Anna".*"updatedAt":"2026-01-02T11:00:00.000Z"/)

    await execute(`INSERT INTO @accounts VALUES
      (11, 'Eve', 'eve@example.org', '2026-01-02 12:00:00', NULL, 'free', FALSE),
      (12, 'Flo', 'flo@example.org', '2019-01-02 12:00:00', NULL, 'free', FALSE)`)
    const never = await adopt('--since', '2026-01-02T10:00:00Z', ...update)
    t.match(never, { code: 0, out: /^created 1, updated 0, skipped 2, / }, 'what was never changed counts as created')
    await execute('DELETE FROM @accounts WHERE id > 10')

    const again = ['--on-conflict', 'skip', '--by', 'legacyId']
    const skipped = (n: number) => `created 0, updated 0, skipped ${n}, refused 0\n`
    t.match(await adopt(...again, '--where', 'id < 4'), { code: 0, out: skipped(2) })
    t.match(await adopt(...again, '--after', '7', '--report', 'all'),
      { code: 0, out: /^id 9: skipped: usr_\w+\ncreated 0, updated 0, skipped 1, refused 0\n$/ })
    t.match(await adopt(...again, '--where', 'id = 7', '--report', 'faults'),
      { code: 1, out: /^id 7: refused: name is required, email must be an e-mail address: it has no @, plan must be/ })
    t.match(await adopt(...again, '--where', 'id > 100'), { code: 0, out: skipped(0), err: '' })

    const byCreation = ['--map', MAP.replace('updatedAt=changed_at,', ''), '--since', '2030-01-01T00:00:00Z']
    t.match(await adopt(...again, ...byCreation), {
      code: 0, err: '--map has no column for updatedAt, so --since finds new rows but not updated ones\n'
    })
    for (const [given, code, err] of [
      [['--since', 'yesterday'], 2, /^--since must be an RFC 3339 date and time\n$/],
      [['--map', 'name=full_name'], 2, /^--map must name the column for email\n$/],
      [['--map', 'name'], 2, /^--map takes <member>=<column>/],
      [['--map', 'name=a,email=b,more=c'], 2, /^--map names more, which users do not have; they have id, name/],
      [['--map', 'name=a,email=b,fields.name=c'], 2, /^--map must not name a member twice\n$/],
      [['--map', 'name=full_name,email=email', '--since', '2026-01-01T00:00:00Z'], 2, /^--since needs a column/],
      [['--map', 'name=full_name,email=mial'], 1, /^the table cannot be read: .*mial/],
      [['--table', 'nowhere'], 1, /^the table cannot be read: .*nowhere/],
      [['--key', 'plan'], 1, /^the column of --key is NULL in some rows\n$/],
      [['--key', 'changed_at'], 1, /^the column of --key has a value twice/],
      [['--where', 'nothing ='], 1, /^the table cannot be read/],
      [['--from', 'postgres://secret:secret@127.0.0.1:1/secret'], 3,
        /^the table cannot be read: the database cannot be reached or is busy \(ECONNREFUSED\)\n$/],
      [['--from', 'mysql://root:hunter2@db/x'], 2, /^--from must be postgres/],
      [['--from', 'mariadb://root:hunter2@db/x'], 2, /^adopt reads tables of PostgreSQL and SQLite, not of MariaDB/],
      [['--from', 'sqlite:/none/at/all.db'], 2, /^there is no file at the path of --from\n$/]
    ] as const) t.match(await adopt(...given), { code, out: '', err }, given.join(' '))
  })
}

test('from one database into another, in more than one step', async (t) => {
  const [sqlite, postgres] = await Promise.all(databases.map(({ create }) => create(t)))
  if (sqlite === undefined || postgres === undefined) throw new Error('there are two databases')
  const count = 1200
  for (const [from, to] of [[sqlite, postgres], [postgres, sqlite]] as const) {
    await to.cli('migrate')
    await from.cli('migrate')
    await from.execute('CREATE TABLE @people (code TEXT PRIMARY KEY, mail TEXT, made BIGINT)')
    await from.execute(`INSERT INTO @people
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT 'c' || i, i || 'p@example.org', 1500000000 + i FROM n`)
    const source = ['--from', from.url, '--table', from.tableOf('people'), '--key', 'code']
    t.strictSame(await to.cli('adopt', ...source, '--map', 'name=code,email=mail,createdAt=made'),
      { code: 0, out: `created ${count}, updated 0, skipped 0, refused 0\n`, err: 'the last code: c999\n' })
    const exported = await to.cli('export', '--columns', 'name')
    t.strictSame(exported.out.trimEnd().split('\n').slice(0, 3), [1, 2, 3].map((n) => `{"name":"c${n}"}`))
    await to.cli('migrate', 'rollback', '--to', '0', '--yes')
  }
})

const TEXT_OR_NULL = [
  { type: ['string', 'null'] }, { type: 'string', nullable: true }, { oneOf: [{ type: 'null' }, { const: 'x' }] },
  { enum: ['x', null] }, { type: ['string', 'integer', 'null'] }, { allOf: [{ type: ['string', 'null'] }] }, {}
]

test('values of a database as those of fields, by the types that the fields may have', async (t) => {
  const valueOf = (value: unknown, schema: object) => fieldValueOf(value, typesOf({ ...schema }), '/f')
  for (const schema of TEXT_OR_NULL) {
    for (const text of ['null', '123', 'true', '{"a":1}', '']) {
      t.equal(valueOf(text, schema), text, `${text} ${JSON.stringify(schema)}`)
    }
  }
  const [number, flag, string, object] = ['number', 'boolean', 'string', 'object'].map((type) => ({ type }))
  const orNull = (type: string) => ({ type: [type, 'null'] })
  for (const [value, schema, expected] of [
    ['12.50', number, 12.5], [7n, number, 7], ['', number, ''], ['x', number, 'x'],
    ['9007199254740991', number, 9007199254740991], ['9007199254740993', number, '9007199254740993'],
    [-9007199254740993n, number, '-9007199254740993'], [1e30, number, 1e30],
    ['12', orNull('integer'), 12], ['null', orNull('integer'), 'null'],
    ['f', flag, false], [0n, flag, false], [2, flag, 2], [true, flag, true], ['1', flag, true],
    [1, orNull('boolean'), true], [0, { type: 'boolean', nullable: true }, false],
    [7, string, '7'], [7n, orNull('string'), '7'], [1, {}, 1],
    ['{"a":1}', orNull('object'), { a: 1 }], ['null', orNull('object'), null],
    ['[1]', { type: 'array' }, [1]], ['word', object, 'word'], [[1], { type: 'array' }, [1]],
    [new JsonText('{"a":1}'), {}, { a: 1 }], [new JsonText('"null"'), orNull('string'), 'null'],
    [new JsonText('null'), orNull('string'), null], [new JsonText('7'), string, '7'], [new JsonText('7'), number, 7]
  ] as const) t.strictSame(valueOf(value, schema ?? {}), expected, `${String(value)} ${JSON.stringify(schema)}`)
  const nested = { type: 'object', properties: { b: string }, required: ['b'], additionalProperties: false }
  const mapping = readMapping('name = n , email=e,a.b=x', { properties: { a: nested } })
  t.strictSame(userOfColumns(['1', null, 7], mapping), { name: '1', a: { b: '7' } })
})
