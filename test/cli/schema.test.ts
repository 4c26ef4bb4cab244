// fastify-users migrate and check: the built program, a process for each call.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { databases, run } from '../helpers/cli.ts'

const MOMENT = "'2026-01-01T00:00:00.000Z'"
const LOWEST = `usr_${'0'.repeat(26)}`
const INSERT_USER = 'INSERT INTO @fastify_users_users ' +
  '(id, name, name_key, email, email_key, version, created_at, updated_at) ' +
  `VALUES ('${LOWEST}', 'n', 'n', 'e', 'e', 1, ${MOMENT}, ${MOMENT})`
const INDEX = 'fastify_users_users_name_key'
const TRIGGER = 'fastify_users_counting_insert'
const DISABLE_TRIGGER: Record<string, string> = {
  sqlite: `DROP TRIGGER ${TRIGGER}`,
  postgres: `ALTER TABLE @fastify_users_users DISABLE TRIGGER ${TRIGGER}`
}

for (const { name, create } of databases) {
  test(`migrate brings the tables on ${name} to this version, and migrate status shows what is pending`, async (t) => {
    const { url, args, open, execute } = await create(t)
    const cli = (...given: string[]) => run([...given, ...args], { DATABASE_URL: url })
    const storage = open()
    t.teardown(() => storage.close())
    t.match(await storage.inspect(), { version: 0, latest: 1, compatibleFrom: 0, pending: ['initial schema'] })
    await cli('migrate')
    t.strictSame(await cli('migrate'), { code: 0, out: 'The schema is at version 1 already.\n', err: '' })
    t.strictSame(await cli('migrate', 'status'), { code: 0, out: 'version 1 of 1\n', err: '' })

    const refused = { code: 1, out: '', err: 'All users would be lost: take a backup, then confirm with --yes.\n' }
    t.strictSame(await cli('migrate', 'rollback', '--to', '0'), refused)
    t.strictSame(await cli('migrate', 'rollback', '--to', '1'), {
      code: 0, out: 'The schema is at version 1 now.\n', err: ''
    })
    for (const wrong of ['2', '-1', 'x', '']) {
      t.strictSame(await cli('migrate', 'rollback', '--yes', `--to=${wrong}`), {
        code: 2, out: '', err: '--to takes a version from 0 to 1\n'
      })
    }
    t.equal((await storage.inspect()).version, 1)
    t.strictSame(await cli('migrate', 'rollback', '--to', '0', '--yes', '--json'), {
      code: 0, out: '{"version":0}\n', err: ''
    })
    t.strictSame(await cli('check'), {
      code: 1,
      out: '',
      err: 'the tables are at version 0 of 1: run fastify-users migrate\n'
    })
    t.strictSame(await cli('migrate', 'status'), {
      code: 1,
      out: 'version 0 of 1\npending: initial schema\n',
      err: 'Apply them: fastify-users migrate\n'
    })
    t.strictSame(await cli('migrate', 'status', '--json'), {
      code: 1,
      out: '{"version":0,"latest":1,"compatibleFrom":0,"pending":["initial schema"]}\n',
      err: 'Apply them: fastify-users migrate\n'
    })
    t.strictSame(await cli('keys', 'list'), {
      code: 1,
      out: '',
      err: 'the tables are behind this code: run fastify-users migrate\n'
    })
    t.strictSame(await cli('migrate', '--json'), {
      code: 0,
      out: '{"version":1,"applied":["initial schema"]}\n',
      err: ''
    })

    const newer = (version: number, compatibleFrom: number) => execute('INSERT INTO @fastify_users_migrations ' +
      `(version, name, applied_at, compatible_from) VALUES (${version}, 'later', ${MOMENT}, ${compatibleFrom})`)
    await newer(98, 1)
    t.strictSame(await cli('migrate', 'status'), {
      code: 0, out: 'version 98 of 1, which this code works with\n', err: ''
    })
    t.strictSame(await cli('migrate', 'status', '--json'), {
      code: 0, out: '{"version":98,"latest":1,"compatibleFrom":1,"pending":[]}\n', err: ''
    })
    t.strictSame(await cli('check', '--fix'), {
      code: 0, out: 'No problems: schema version 98, 0 users, every number right.\n', err: ''
    })
    t.strictSame(await cli('migrate'), {
      code: 1, out: '', err: 'the tables are at version 98, this code knows 1: install a newer fastify-users\n'
    })
    t.strictSame(await cli('migrate', 'rollback', '--to', '1', '--yes'), {
      code: 1, out: '', err: 'The tables are newer than this code: use the fastify-users they are for.\n'
    })

    await newer(99, 2)
    t.strictSame(await cli('migrate', 'status'), {
      code: 1,
      out: 'version 99 of 1\n',
      err: 'The tables are newer than this code: install a newer fastify-users.\n'
    })
    t.strictSame(await cli('check'), {
      code: 1,
      out: '',
      err: 'the tables are at version 99, this code knows 1: install a newer fastify-users\n'
    })
  })

  test(`check reports missing indexes, triggers and wrong counts on ${name}, and what to do`, async (t) => {
    const { url, args, open, execute } = await create(t)
    const cli = (...given: string[]) => run([...given, ...args], { DATABASE_URL: url })
    await cli('migrate')
    const storage = open()
    t.teardown(() => storage.close())
    const allRight = 'No problems: schema version 1, 0 users, every number right.\n'
    t.strictSame(await cli('check'), { code: 0, out: allRight, err: '' })
    const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'command-line.md'), 'utf8')
    t.match(page, (await cli('check', '--json')).out, 'its page shows the whole answer')

    await execute(`DROP INDEX @${INDEX}`)
    t.strictSame((await storage.inspect()).missing, [INDEX])
    await execute(DISABLE_TRIGGER[name] ?? '')
    await execute(INSERT_USER)
    await storage.rebuildCounts()
    await execute(`DELETE FROM @fastify_users_users WHERE id = '${LOWEST}'`)
    const { code, out, err } = await cli('check', '--json')
    t.match(JSON.parse(out), {
      version: 1, latest: 1, pending: [], missing: [INDEX, TRIGGER], counts: { users: 0 }
    })
    t.equal(code, 1)
    t.equal(err, [INDEX, TRIGGER].map((object) => `${object} is missing or not in force: create it again with the ` +
      'statement that migrationsSql() prints for it, then check again\n').join(''))
    await execute("INSERT INTO @fastify_users_counting_blocks (first_id, users) VALUES ('a', 5)")
    t.match(await cli('check'), {
      code: 1,
      err: /there are 0 users, and lists count 0 \([1-9] wrong numbers\): run fastify-users check --fix\n$/
    })
    const fixed = await cli('check', '--fix')
    t.match(fixed, { code: 1, out: '' })
    t.notMatch(fixed.err, 'wrong numbers')
  })

  test(`check and migrate --filterable look after the indexes of own fields on ${name}`, async (t) => {
    const { url, args, execute } = await create(t)
    const cli = (...given: string[]) => run([...given, ...args], { DATABASE_URL: url })
    await cli('migrate')
    t.strictSame(await cli('check', '--filterable', 'plan,seats'), {
      code: 1,
      out: '',
      err: 'lists filtered by plan, seats have no index: run fastify-users migrate --filterable plan,seats\n'
    })
    t.strictSame(await cli('migrate', '--filterable', 'plan'), {
      code: 0,
      out: 'applied: index of plan\nThe schema is at version 1 now.\n',
      err: ''
    })
    t.match(await cli('check', '--filterable', 'plan, seats', '--json'), { code: 1, out: /"unindexed":\["seats"\]/ })
    t.strictSame(await cli('migrate', '--filterable', 'plan,seats', '--json'), {
      code: 0,
      out: '{"version":1,"applied":["index of seats"]}\n',
      err: ''
    })
    t.match(await cli('check', '--filterable', 'plan,seats'), { code: 0, err: '' })
    t.strictSame(await cli('check', '--unique', 'legacyId'), {
      code: 1,
      out: '',
      err: 'no index keeps legacyId unique: run fastify-users migrate --unique legacyId\n'
    })
    t.match(await cli('migrate', '--unique', 'legacyId'), { code: 0, out: /^applied: unique index of legacyId\n/ })
    t.match(await cli('check', '--unique', 'legacyId', '--filterable', 'legacyId'), { code: 0, err: '' })
    t.match(await cli('migrate', '--unique', 'a-b'), { code: 2, err: /^--unique takes names of fields/ })
    const refusal = '--filterable takes names of fields separated by commas, each of 1 to 63 letters, digits and _\n'
    for (const wrong of ['', 'a-b', 'plan,,seats', "x'y"]) {
      t.strictSame(await cli('migrate', '--filterable', wrong), { code: 2, out: '', err: refusal }, wrong)
    }
    const asks = ['--filterable', 'plan:folded', '--searchable', 'phone:digits']
    t.match(await cli('check', ...asks), { code: 1, err: /^users are found by other fields: / })
    t.match(await cli('migrate', ...asks), { code: 0, out: /^applied: words of the fields that are searched\n/ })
    t.match(await cli('check', ...asks), { code: 0 })
    await execute('INSERT INTO @fastify_users_users ' +
      '(id, name, name_key, email, email_key, version, created_at, updated_at) VALUES ' +
      `('usr_01h455vb4pex5vsknk084sn02q', 'Ann', 'ann', 'a@example.org', 'a@example.org', 1, ${MOMENT}, ${MOMENT})`)
    t.match(await cli('check'), {
      code: 1, err: 'users that a search for their fields does not find: 1; run fastify-users check --fix\n'
    })
    t.match(await cli('check', '--fix'), { code: 0, err: '' })
    t.match(await cli('check', '--filterable', 'plan', '--searchable', 'phone:digits'), { code: 1 })
  })
}
