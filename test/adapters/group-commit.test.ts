import knex, { type Knex } from 'knex'
import pg from 'pg'
import { test, type Test } from 'tap'
import type {  } from '../../adapters/knex/drivers/driver.ts'
import type { Row } from '../../adapters/knex/tables/rows.ts'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { groupCommits } from '../../adapters/knex/batching/group-commit.ts'
import { storageOnKnex } from '../../adapters/knex/storage.ts'
import { postgres } from '../../adapters/postgres.ts'
import { StorageError } from '../../lib/core/storage-error.ts'
import type { PageRequest, Storage, UserRecord, VersionGuard } from '../../lib/core/storage.ts'
import { pgUrl, sql, stores, temporarySchema } from '../helpers/stores.ts'
import { sqliteHost } from '../helpers/sqlite.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-02T00:00:00.000Z'
const unguarded: VersionGuard = { ifVersion: null, unlessVersion: [] }
const everybody = { emailKey: null, prefix: null, fields: {} }
const userOf = (n: number): UserRecord => ({ id: `usr_${String(n).padStart(26, '0')}`, name: `n${n}`, email: `${n}@example.com`, fields: {}, version: 1, createdAt: NOW, updatedAt: NOW })
const keysOf = ({ name, email }: UserRecord) => ({ nameKey: name.toLowerCase(), emailKey: email.toLowerCase() })
const PAGE: PageRequest = { order: 'asc', limit: 20, from: { offset: 0 } }
const numbers = (length: number) => Array.from({ length }, (_, n) => n)
const renamed = (name: string) => ({ name: { value: name, key: name.toLowerCase() } })
const codeOf = (answer: PromiseSettledResult<unknown>): unknown => answer.status === 'fulfilled' ? 'ok' : answer.reason.code

async function opened (t: Test, storage: Storage): Promise<Storage> {
  t.teardown(() => storage.close())
  await storage.migrate()
  return storage
}

for (const { name, create: make } of stores.filter(({ name }) => name !== 'memory')) {
  test(`${name}: creations at once are each answered for themselves`, async (t) => {
    const storage = await opened(t, await make(t))
    await storage.createUser(userOf(7), keysOf(userOf(7)), null)
    const text = 'O\'"\\{}[],\n\u{1f600}é'
    const rich = (n: number): UserRecord => ({ ...userOf(n), name: text, fields: { a: [null, 1.5, true, { b: text }], n } })
    const asked: Array<[UserRecord, unknown]> = numbers(200).map((n) => [rich(n), n === 7 ? 'email_taken' : 'ok'])
    // The same address twice, another's id, and a text that can't be kept.
    asked.push([{ ...userOf(300), email: '50@EXAMPLE.com' }, 'email_taken'], [{ ...userOf(60), email: 'x@example.com' }, 'fault'], [{ ...userOf(301), name: 'a\ud800b' }, 'fault'], [userOf(302), 'ok'])
    const answers = await Promise.allSettled(asked.map(([user]) => storage.createUser(user, keysOf(user), null)))
    // 7 has another name, so it is another creation of that id.
    t.strictSame(answers.map(codeOf), asked.map(([user, code]) => user.id === userOf(7).id ? 'fault' : code))
    const { items, total } = await storage.listUsers(everybody, { order: 'asc', limit: 1000, from: { offset: 0 } })
    t.strictSame(items, [...numbers(200).map((n) => n === 7 ? userOf(7) : rich(n)), userOf(302)])
    t.equal(total, 201)
  })

  test(`${name}: changes at once are each answered for themselves`, async (t) => {
    const storage = await opened(t, await make(t))
    await Promise.all(numbers(100).map((n) => storage.createUser(userOf(n), keysOf(userOf(n)), null)))
    const change = (n: number, changes: Parameters<Storage['updateUser']>[1], guard = unguarded) => storage.updateUser(userOf(n).id, changes, LATER, guard)
    const only = (version: number): VersionGuard => ({ ifVersion: [version], unlessVersion: [] })
    const after = (n: number, more: Partial<UserRecord>) => ({ user: { ...userOf(n), version: 2, updatedAt: LATER, ...more }, changed: true })
    const answers = await Promise.allSettled([
      ...numbers(40).map((n) => change(n, renamed(`new ${n}`))),
      ...numbers(10).map((n) => change(40 + n, renamed(`if ${n}`), only(1))),
      ...numbers(10).map((n) => change(50 + n, { fields: { n, text: '"\\' } }, only(1))),
      ...numbers(10).map((n) => change(60 + n, { ...renamed('both'), fields: { n } })),
      change(70, renamed('n70')),
      change(71, { fields: {} }),
      change(999, renamed('nobody')),
      change(72, renamed('stale'), only(2)),
      change(73, renamed('huge'), only(2 ** 40)),
      change(75, { email: { value: '1@example.com', key: '1@example.com' } }),
      change(76, { email: { value: 'New@example.com', key: 'new@example.com' } }),
      change(77, renamed('unless'), { ifVersion: null, unlessVersion: [1] })
    ])
    const values = answers.map((answer) => answer.status === 'fulfilled' ? answer.value : answer.reason.code)
    t.strictSame(values, [
      ...numbers(40).map((n) => after(n, { name: `new ${n}` })),
      ...numbers(10).map((n) => after(40 + n, { name: `if ${n}` })),
      ...numbers(10).map((n) => after(50 + n, { fields: { n, text: '"\\' } })),
      ...numbers(10).map((n) => after(60 + n, { name: 'both', fields: { n } })),
      { user: userOf(70), changed: false },
      { user: userOf(71), changed: false },
      null, 'version_mismatch', 'version_mismatch', 'email_taken',
      after(76, { email: 'New@example.com' }),
      'version_mismatch'
    ])
    // A text that can't be stored, among others.
    const bad = await Promise.allSettled([change(82, renamed('good')), change(83, renamed('a\0b')), change(84, renamed('good'))])
    t.strictSame(bad.map(codeOf), ['ok', 'fault', 'ok'])
    // Many of one user: each is made, one after the other.
    const many = await Promise.all(numbers(50).map((n) => change(80, renamed(`try ${n}`))))
    t.strictSame(many.map((each) => each?.user.version).sort((a = 0, b = 0) => a - b), numbers(50).map((n) => n + 2))
    // Under a guard just one of them.
    const guarded = await Promise.allSettled(numbers(50).map((n) => change(81, renamed(`try ${n}`), only(1))))
    t.equal(guarded.filter(({ status }) => status === 'fulfilled').length, 1)
    t.strictSame([...new Set(guarded.map(codeOf))].sort(), ['ok', 'version_mismatch'])
  })
}

/** A storage on PostgreSQL with 60 users, and a transaction of somebody else's on its tables; `waiting` resolves once so many of the storage's statements wait for a lock. */
async function beside (t: Test) {
  const schema = temporarySchema(t)
  const url = new URL(pgUrl())
  url.searchParams.set('application_name', schema)
  const storage = await opened(t, postgres({ connection: url.href, schema }))
  await Promise.all(numbers(60).map((n) => storage.createUser(userOf(n), keysOf(userOf(n)), null)))
  const other = new pg.Client({ connectionString: pgUrl() })
  await other.connect()
  t.teardown(() => other.end())
  await other.query(`SET search_path = "${schema}"; BEGIN`)
  async function waiting (count: number): Promise<void> {
    while ((await sql("SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [schema])).length < count) { /* until they wait */ }
  }
  return { storage, other, waiting }
}

test('postgres: a user whom another transaction has locked keeps nobody else waiting', async (t) => {
  const { storage, other, waiting } = await beside(t)
  await other.query('SELECT 1 FROM fastify_users_users WHERE id = ANY($1) FOR UPDATE', [[3, 20].map((n) => userOf(n).id)])
  const rename = (n: number) => storage.updateUser(userOf(n).id, renamed(`new ${n}`), LATER, unguarded)
  // Two by themselves take both places of groups, and give them back.
  const locked = [rename(3)]
  await waiting(1)
  locked.push(rename(20))
  await waiting(2)
  const others = numbers(60).filter((n) => n !== 3 && n !== 20)
  const answers = await Promise.all(others.map(rename))
  t.strictSame(answers.map((each) => each?.user.name), others.map((n) => `new ${n}`))
  // And among others.
  const again = [0, 3, 1, 20, 2].map((n) => storage.updateUser(userOf(n).id, renamed('again'), LATER, unguarded))
  await Promise.all([0, 2, 4].map((n) => again[n]))
  await waiting(4)
  t.strictSame((await Promise.all([0, 1, 2].map((n) => storage.findUser(userOf(n).id)))).map((user) => user?.name), ['again', 'again', 'again'])
  await other.query('COMMIT')
  t.strictSame((await Promise.all(locked)).map((each) => each?.changed), [true, true])
  t.strictSame((await Promise.all(again)).map((each) => each?.user.name), numbers(5).map(() => 'again'))
})

for (const end of ['COMMIT', 'ROLLBACK']) {
  test(`postgres: an address that another transaction is about to take keeps nobody else waiting: ${end}`, async (t) => {
    const { storage, other, waiting } = await beside(t)
    await other.query('INSERT INTO fastify_users_users (id, name, name_key, email, email_key, version, created_at, updated_at) VALUES (\'usr_x\', \'x\', \'x\', \'130@example.com\', \'130@example.com\', 1, now(), now())')
    const create = (n: number) => storage.createUser(userOf(n), keysOf(userOf(n)), null)
    // In the middle of the others.
    const before = numbers(30).map((n) => create(100 + n))
    const wanted = create(130).then(() => 'ok', ({ code }) => code)
    const behind = numbers(29).map((n) => create(131 + n))
    t.strictSame((await Promise.all([...before, ...behind])).map(({ user }) => user), numbers(60).filter((n) => n !== 30).map((n) => userOf(100 + n)))
    await waiting(1)
    await other.query(end)
    t.equal(await wanted, end === 'COMMIT' ? 'email_taken' : 'ok')
  })
}

test('postgres: two processes that want the same addresses at once each get their answer', async (t) => {
  const { storage, other } = await beside(t)
  await other.query('COMMIT')
  const [{ schema }] = (await other.query('SELECT current_schema() AS schema')).rows
  const second = postgres({ connection: pgUrl(), schema })
  t.teardown(() => second.close())
  const wanted = numbers(300).map((n) => userOf(1000 + n))
  const ask = (store: Storage, users: UserRecord[]) => users.map((user) => store.createUser({ ...user, id: user.id.replace('usr_', store === second ? 'usr_7' : 'usr_6') }, keysOf(user), null))
  const answers = await Promise.allSettled([...ask(storage, wanted), ...ask(second, wanted.toReversed())])
  t.equal(answers.filter(({ status }) => status === 'fulfilled').length, 300)
  t.strictSame([...new Set(answers.map(codeOf))].sort(), ['email_taken', 'ok'])
  t.equal((await storage.listUsers(everybody, { order: 'asc', limit: 1, from: { offset: 0 } })).total, 360)
})

/** Groups that a test ends itself. */
function watched (most: number) {
  const groups: Array<{ ids: string[], end: (answer: Row[] | Error) => void }> = []
  const alones: string[] = []
  const write = groupCommits(most, (all) => new Promise((resolve, reject) => {
    groups.push({ ids: all.map(([id]) => String(id)), end: (answer) => { if (answer instanceof Error) reject(answer); else resolve(answer) } })
  }))
  const ask = (id: string) => write(id, [id], async () => {
    alones.push(id)
    return { id, alone: true }
  })
  return { groups, alones, ask }
}

const turn = () => new Promise((resolve) => { setImmediate(resolve) })

test('who comes while a group is under way goes with the next one', async (t) => {
  const { groups, alones, ask } = watched(1)
  t.strictSame(await ask('first'), { id: 'first', alone: true }, 'one goes by itself')
  const answers = ['a', 'b', 'a', 'c'].map(ask)
  await turn()
  t.strictSame(groups.map(({ ids }) => ids), [['a', 'b', 'c']], 'no id is twice in a group')
  const later = numbers(70).map((n) => ask(`later ${n}`))
  await turn()
  t.equal(groups.length, 1)
  groups[0]?.end([{ id: 'a', row: 1 }, { id: 'c', row: 2 }])
  t.strictSame(await Promise.all([answers[0], answers[1], answers[3]]), [{ id: 'a', row: 1 }, undefined, { id: 'c', row: 2 }], 'for who was not written there was nothing to write')
  t.strictSame(groups.map(({ ids }) => ids.length), [3, 64], 'a group has a bound')
  t.equal(groups[1]?.ids[0], 'a')
  groups[1]?.end([{ id: 'a', row: 3 }])
  t.strictSame(await answers[2], { id: 'a', row: 3 })
  await turn()
  t.strictSame(groups[2]?.ids, numbers(7).map((n) => `later ${63 + n}`))
  groups[2]?.end(numbers(7).map((n) => ({ id: `later ${63 + n}` })))
  t.strictSame(await Promise.all(later), numbers(70).map((n) => n < 63 ? undefined : { id: `later ${n}` }))
  t.strictSame(alones, ['first'])
  // A text that can't be stored goes by itself, whatever becomes of it.
  t.strictSame(await Promise.all(['a', 'b\0'].map(ask)), [{ id: 'a', alone: true }, { id: 'b\0', alone: true }])
  t.equal(groups.length, 3)
})

test('what the database refuses is tried one by one, and every other failure is that of all', async (t) => {
  const { groups, alones, ask } = watched(1)
  for (const driverCode of ['23514', '55P03', '40001', '40P01', '57014', 'P0001', 'SQLITE_CONSTRAINT']) {
    const answers = ['a', 'b'].map(ask)
    await turn()
    groups.at(-1)?.end(new StorageError('fault', 'no', driverCode))
    t.strictSame(await Promise.all(answers), [{ id: 'a', alone: true }, { id: 'b', alone: true }], driverCode)
  }
  alones.length = 0
  // Nobody knows whether it was carried out, or it would come again.
  for (const driverCode of ['ECONNRESET', 'EPIPE', 'ENETDOWN', '08006', '57P01', '40003', 'SQLITE_BUSY', 'SQLITE_IOERR', undefined]) {
    const answers = ['a', 'b'].map(ask)
    await turn()
    const error = new StorageError('unavailable', 'away', driverCode)
    groups.at(-1)?.end(error)
    t.strictSame((await Promise.allSettled(answers)).map((each) => each.status === 'rejected' && each.reason), [error, error], String(driverCode))
  }
  t.strictSame(alones, [])
})

test('who has waited for too long is told so', async (t) => {
  const { groups, ask } = watched(1)
  const first = ['a', 'b'].map(ask)
  await turn()
  const { now } = performance
  t.teardown(() => { performance.now = now })
  performance.now = () => now.call(performance) - 5001
  const late = ['c', 'd'].map(ask)
  performance.now = now
  const [other, another] = ['e', 'f'].map(ask)
  groups[0]?.end([{ id: 'a' }, { id: 'b' }])
  t.strictSame((await Promise.allSettled(late)).map(codeOf), ['unavailable', 'unavailable'])
  t.strictSame(groups[1]?.ids, ['e', 'f'])
  groups[1]?.end([{ id: 'e' }, { id: 'f' }])
  t.strictSame(await Promise.all([...first, other, another]), ['a', 'b', 'e', 'f'].map((id) => ({ id })))
})

interface Sqlite {
  prepare (sql: string, ...others: unknown[]): unknown
}

/** From now on notes what is prepared on the one connection of an SQLite; answers which of it goes through the table of users. */
async function scansOf (own: Knex): Promise<() => Promise<string[]>> {
  const connection: Sqlite = await own.client.acquireConnection()
  await own.client.releaseConnection(connection)
  const prepared: string[] = []
  const { prepare } = connection
  connection.prepare = (sql, ...others) => {
    prepared.push(sql)
    return prepare.call(connection, sql, ...others)
  }
  const planOf = async (sql: string) => {
    const values = Array.from(new Set(sql.match(/\?\d+/g)), () => null)
    return (await dialectOf(own.client.driverName).run(connection, `EXPLAIN QUERY PLAN ${sql}`, values)).map(({ detail }) => String(detail))
  }
  return async () => (await Promise.all(prepared.filter((sql) => /^(?:UPDATE|SELECT)/.test(sql)).map(planOf))).flat().filter((detail) => /SCAN (?:fastify_users_)?users/.test(detail))
}

for (const kind of ['sqlite', 'postgres']) {
  test(`${kind}: what comes at once is few statements, however small the table was`, async (t) => {
    const own = kind === 'sqlite'
      ? sqliteHost(':memory:')
      : knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 4 } })
    const storage = storageOnKnex(own, kind === 'sqlite' ? {} : { schema: temporarySchema(t) }, { prepare: true, batching: { connections: 1, groups: 1 } })
    t.teardown(async () => {
      await storage.close()
      await own.destroy()
    })
    await storage.migrate()
    await storage.createUser(userOf(999), keysOf(userOf(999)), null)
    // What SQLite remembers of the table from now on.
    if (kind === 'sqlite') await own.raw('ANALYZE')
    const plansOf = kind === 'sqlite' ? await scansOf(own) : async () => []
    let lent = 0
    const lend = own.client.acquireConnection
    own.client.acquireConnection = function () {
      lent++
      return lend.call(this)
    }
    async function counted (work: (n: number) => Promise<unknown>): Promise<number> {
      const before = lent
      await Promise.all(numbers(200).map(work))
      return lent - before
    }
    const change = (changes: Parameters<Storage['updateUser']>[1], ifVersion: number[] | null) => async (n: number) => {
      t.equal((await storage.updateUser(userOf(n).id, changes, LATER, { ifVersion, unlessVersion: [] }))?.changed, true)
    }
    t.equal(await counted((n) => storage.createUser(userOf(n), keysOf(userOf(n)), null)), 4)
    t.equal(await counted(change(renamed('new'), null)), 4)
    t.equal(await counted(change({ fields: { n: 1 } }, [2])), 4)
    t.equal(await counted(change({ ...renamed('both'), fields: {} }, [3])), 4)
    t.ok(await counted((n) => storage.updateUser(userOf(n).id, renamed('both'), LATER, unguarded)) < 20, 'what changes nothing is written with others too')
    t.ok(await counted(async (n) => { t.equal((await storage.findUser(userOf(n).id))?.version, 4) }) <= 4)
    t.ok(await counted(async (n) => {
      t.strictSame((await storage.listUsers({ emailKey: keysOf(userOf(n)).emailKey, prefix: null, fields: {} }, PAGE)).items.map(({ id }) => id), [userOf(n).id])
    }) <= 4)
    t.strictSame(await plansOf(), [], 'each row is looked up by an index')
  })
}
