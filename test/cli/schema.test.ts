// fastify-users migrate and check.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { databases } from '../helpers/cli.ts'

const MOMENT = "'2026-01-01T00:00:00.000Z'"
const LOWEST = `usr_${'0'.repeat(26)}`
const insertUser = (id: string) => 'INSERT INTO @fastify_users_users ' +
  '(id, name, name_key, email, email_key, version, created_at, updated_at) ' +
  `VALUES ('${id}', 'n', 'n', 'e', 'e', 1, ${MOMENT}, ${MOMENT})`
const INDEX = 'fastify_users_users_name_key'
const TRIGGER = 'fastify_users_counting_insert'
const DISABLE_TRIGGER: Record<string, string> = {
  sqlite: `DROP TRIGGER ${TRIGGER}`,
  postgres: `ALTER TABLE @fastify_users_users DISABLE TRIGGER ${TRIGGER}`
}

for (const { name, create } of databases) {
  /** A new database, and what checks all that a command says of it. */
  async function opened (t: Test) {
    const database = await create(t)
    async function says (words: string, code: number, out: string, err = ''): Promise<void> {
      t.strictSame(await database.cli(...words.split(' ')), { code, out, err }, words)
    }
    const storage = database.open()
    t.teardown(() => storage.close())
    return { ...database, storage, says }
  }

  test(`migrate brings the tables on ${name} to this version, and migrate status shows what is pending`, async (t) => {
    const { cli, storage, execute, says } = await opened(t)
    t.match(await storage.inspect(), { version: 0, latest: 1, compatibleFrom: 0, pending: ['initial schema'] })
    await cli('migrate')
    await says('migrate', 0, 'The schema is at version 1 already.\n')
    await says('migrate status', 0, 'version 1 of 1\n')
    await says('migrate rollback --to 0', 1, '',
      'All users would be lost: take a backup, then confirm with --yes.\n')
    await says('migrate rollback --to 1', 0, 'The schema is at version 1 now.\n')
    for (const wrong of ['2', '-1', 'x', '']) {
      await says(`migrate rollback --yes --to=${wrong}`, 2, '', '--to takes a version from 0 to 1\n')
    }
    t.equal((await storage.inspect()).version, 1)

    await says('migrate rollback --to 0 --yes --json', 0, '{"version":0}\n')
    await says('check', 1, '', 'the tables are at version 0 of 1: run fastify-users migrate\n')
    const apply = 'Apply them: fastify-users migrate\n'
    await says('migrate status', 1, 'version 0 of 1\npending: initial schema\n', apply)
    await says('migrate status --json', 1,
      '{"version":0,"latest":1,"compatibleFrom":0,"pending":["initial schema"]}\n', apply)
    await says('keys list', 1, '', 'the tables are behind this code: run fastify-users migrate\n')
    await says('migrate --json', 0, '{"version":1,"applied":["initial schema"]}\n')

    const newer = (version: number, compatibleFrom: number) => execute('INSERT INTO @fastify_users_migrations ' +
      `(version, name, applied_at, compatible_from) VALUES (${version}, 'later', ${MOMENT}, ${compatibleFrom})`)
    await newer(98, 1)
    await says('migrate status', 0, 'version 98 of 1, which this code works with\n')
    await says('migrate status --json', 0, '{"version":98,"latest":1,"compatibleFrom":1,"pending":[]}\n')
    await says('check --fix', 0, 'No problems: schema version 98, 0 users, all counts correct.\n')
    await says('migrate', 1, '', 'the tables are at version 98, this code knows 1: install a newer fastify-users\n')
    await says('migrate rollback --to 1 --yes', 1, '',
      'The tables are newer than this code: use the fastify-users version for them.\n')
    await newer(99, 2)
    await says('migrate status', 1, 'version 99 of 1\n',
      'The tables are newer than this code: install a newer fastify-users.\n')
    await says('check', 1, '', 'the tables are at version 99, this code knows 1: install a newer fastify-users\n')
  })

  test(`check reports missing indexes, triggers and wrong counts on ${name}, and what to do`, async (t) => {
    const { cli, storage, execute, says } = await opened(t)
    await cli('migrate')
    await says('check', 0, 'No problems: schema version 1, 0 users, all counts correct.\n')
    const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'command-line.md'), 'utf8')
    t.match(page, (await cli('check', '--json')).out, 'its page shows the whole answer')

    await execute(`DROP INDEX @${INDEX}`)
    t.strictSame((await storage.inspect()).missing, [INDEX])
    await execute(DISABLE_TRIGGER[name] ?? '')
    await execute(insertUser(LOWEST))
    await storage.rebuildCounts()
    await execute(`DELETE FROM @fastify_users_users WHERE id = '${LOWEST}'`)
    const { code, out, err } = await cli('check', '--json')
    t.match(JSON.parse(out), { version: 1, latest: 1, pending: [], missing: [INDEX, TRIGGER], counts: { users: 0 } })
    t.strictSame([code, err], [1, [INDEX, TRIGGER].map((object) => `${object} is missing or not in force: create it ` +
      'again with its statement, which migrationsSql() returns (docs/storages.md#as-sql-text), then check again\n'
    ).join('')])
    await execute("INSERT INTO @fastify_users_counting_blocks (first_id, users) VALUES ('a', 5)")
    t.match(await cli('check'), {
      code: 1,
      err: /there are 0 users, and lists count 0 \([1-9] wrong numbers\): run fastify-users check --fix\n$/
    })
    const fixed = await cli('check', '--fix')
    t.match(fixed, { code: 1, out: '' })
    t.notMatch(fixed.err, 'wrong numbers')
  })

  test(`check and migrate look after the indexes and words of own fields on ${name}`, async (t) => {
    const { cli, execute, says } = await opened(t)
    await cli('migrate')
    await says('check --filterable plan,seats', 1, '',
      'lists filtered by plan, seats have no index: run fastify-users migrate --filterable plan,seats\n')
    await says('migrate --filterable plan', 0, 'applied: index of plan\nThe schema is at version 1 now.\n')
    t.match(await cli('check', '--filterable', 'plan, seats', '--json'), { code: 1, out: /"unindexed":\["seats"\]/ })
    await says('migrate --filterable plan,seats --json', 0, '{"version":1,"applied":["index of seats"]}\n')
    t.match(await cli('check', '--filterable', 'plan,seats'), { code: 0, err: '' })
    await says('check --unique legacyId', 1, '',
      'no index keeps legacyId unique: run fastify-users migrate --unique legacyId\n')
    t.match(await cli('migrate', '--unique', 'legacyId'), { code: 0, out: /^applied: unique index of legacyId\n/ })
    t.match(await cli('check', '--unique', 'legacyId', '--filterable', 'legacyId'), { code: 0, err: '' })
    t.match(await cli('migrate', '--unique', 'a-b'), { code: 2, err: /^--unique takes names of fields/ })
    for (const wrong of ['', 'a-b', 'plan,,seats', "x'y"]) {
      await says(`migrate --filterable ${wrong}`, 2, '',
        '--filterable takes names of fields separated by commas, each of 1 to 63 letters, digits and _\n')
    }
    const asks = ['--filterable', 'plan:folded', '--searchable', 'phone:digits']
    t.match(await cli('check', ...asks), { code: 1, err: /^users are searched by other fields: / })
    t.match(await cli('migrate', ...asks), { code: 0, out: /^applied: words of the fields that are searched\n/ })
    t.match(await cli('check', ...asks), { code: 0 })
    await execute(insertUser('usr_01h455vb4pex5vsknk084sn02q'))
    t.match(await cli('check'), {
      code: 1, err: 'users who are not found by a search for their fields: 1; run fastify-users check --fix\n'
    })
    t.match(await cli('check', '--fix'), { code: 0, err: '' })
    t.match(await cli('check', '--filterable', 'plan', '--searchable', 'phone:digits'), { code: 1 })
  })
}
