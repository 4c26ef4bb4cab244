// Transactions of a host's: a deadlock, a wait for a lock and a row that has changed meanwhile are errors that say so,
// and nothing of ours runs outside of a transaction that the database has ended.
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { mariadbHost, temporaryDatabase, withoutMariadb } from '../helpers/mariadb.ts'
import { until } from '../helpers/until.ts'

const skip = from('ci') || withoutMariadb

/** A host with users, and a table of its own with two rows. */
async function hosted (t: Test, session: readonly string[] = []) {
  const database = await temporaryDatabase(t)
  const host = mariadbHost(database, {
    pool: {
      min: 0,
      max: 8,
      afterCreate (connection: { query: (sql: string, done: (error: unknown) => void) => void }, done: Function) {
        connection.query(['SET SESSION innodb_lock_wait_timeout = 1', ...session].join(', '), (error) =>
          done(error, connection))
      }
    }
  })
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host), eventLog: true, groups: true })
  await host.raw('CREATE TABLE orders (id integer PRIMARY KEY, note varchar(20)) ENGINE = InnoDB')
  await host.raw("INSERT INTO orders VALUES (1, ''), (2, '')")
  const told: string[] = []
  users.events.on('user.created', ({ data }) => { told.push(data.email) })
  return { host, users, told }
}

const person = (name: string) => ({ name, email: `${name}@example.org` })
const note = (on: Knex, id: number) => on.raw('UPDATE orders SET note = ? WHERE id = ?', ['x', id])

/** Waits until a statement of the host's waits for a lock. */
const untilOneWaits = (host: Knex): Promise<void> => until('a statement waits for a lock', async () => {
  // The table of transactions is a copy, which is not renewed while it is asked for all the time.
  const [[row]] = await host.raw("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")
  return Number(row.Value) > 0
})

/** Has the server end the first of two transactions by a deadlock, in a statement of the host's. */
async function deadlock (host: Knex, victim: Knex.Transaction, other: Knex.Transaction): Promise<unknown> {
  // The one that has written less is ended.
  await other.raw("INSERT INTO orders SELECT seq, '' FROM seq_10_to_500")
  await note(other, 1)
  await note(victim, 2)
  const [mine, theirs] = await Promise.allSettled([note(victim, 1), untilOneWaits(host).then(() => note(other, 2))])
  if (theirs.status === 'rejected') throw theirs.reason
  return mine.status === 'rejected' ? mine.reason : null
}

for (const catches of [false, true]) {
  test(`a deadlock in a statement of the host${catches ? ' that it catches' : ''}`, { skip }, async (t) => {
    const { host, users, told } = await hosted(t)
    const [first, second] = [await host.transaction(), await host.transaction()]
    const within = users.using(first)
    await within.create(person('ann'))
    // The row of all writers is free again: the other one does not write users.
    const error: { code?: string } = Object(await deadlock(host, first, second))
    t.equal(error.code, 'ER_LOCK_DEADLOCK')
    if (catches) {
      await t.rejects(within.create(person('ben')), { code: 'storage_unavailable' }, 'nothing runs outside of it')
      await t.rejects(within.list(), { code: 'storage_unavailable' })
      await first.commit()
    } else await first.rollback()
    await second.commit()
    t.equal((await users.list()).meta.total, 0)
    t.strictSame((await users.events.list()).data.filter(({ type }) => type === 'user.created'), [])
    await users.create(person('last'))
    await until('the last one is told', async () => told.includes('last@example.org'))
    t.strictSame(told, ['last@example.org'], 'nobody is told of what was undone')
  })
}

test('who waits too long for another writer gets an error, and the transaction goes on', { skip }, async (t) => {
  const { host, users, told } = await hosted(t)
  const [first, second] = [await host.transaction(), await host.transaction()]
  await users.using(first).create(person('ann'))
  await t.rejects(users.using(second).create(person('ben')), { code: 'storage_unavailable' })
  await first.commit()
  await users.using(second).create(person('cay'))
  await second.commit()
  await until('both are told', async () => told.length === 2)
  t.strictSame(told, ['ann@example.org', 'cay@example.org'])
})

test('a row that somebody else locks delays writes of it alone, as long as a statement waits', { skip }, async (t) => {
  const { host, users } = await hosted(t)
  const { id } = await users.create(person('ann'))
  const holder = await host.transaction()
  await holder.raw('SELECT 1 FROM fastify_users_users WHERE id = ? FOR UPDATE', [id])
  const refused = t.rejects(users.update(id, { name: 'Ann' }), {
    code: 'storage_unavailable', cause: { message: 'another transaction locks what is written (ER_LOCK_WAIT_TIMEOUT)' }
  })
  await untilOneWaits(host)
  await host.raw('SELECT turn FROM fastify_users_state FOR UPDATE NOWAIT')
  await refused
  const both = [users.update(id, { name: 'Ann' }), users.update(id, { name: 'Anna' })]
  await untilOneWaits(host)
  await holder.commit()
  t.strictSame((await Promise.all(both)).map(({ version }) => version), [2, 3])
  const all = 'SELECT * FROM fastify_users_users LOCK IN SHARE MODE'
  for (const locks of [all, 'UPDATE fastify_users_state SET turn = 0']) {
    const other = await host.transaction()
    await other.raw(locks)
    await t.rejects(users.create(person('ben')), { code: 'storage_unavailable' }, locks)
    await other.commit()
  }
  await users.create(person('ben'))
})

test('under REPEATABLE READ with innodb_snapshot_isolation a writer in between is a conflict', { skip }, async (t) => {
  const { host, users } = await hosted(t, ['innodb_snapshot_isolation = 1'])
  const transaction = await host.transaction()
  t.equal((await users.using(transaction).list()).meta.total, 0)
  await users.create(person('ann'))
  await t.rejects(users.using(transaction).create(person('ben')), { code: 'storage_unavailable' })
  await transaction.rollback()
  const again = await host.transaction({ isolationLevel: 'read committed' })
  t.equal((await users.using(again).list()).meta.total, 1)
  await users.create(person('cay'))
  await users.using(again).create(person('dan'))
  await again.commit()
  t.equal((await users.list()).meta.total, 3)
})

test('a deadlock in a write of ours ends the transaction', { skip }, async (t) => {
  const { host, users } = await hosted(t)
  const [first, second] = [await host.transaction(), await host.transaction()]
  await first.raw("INSERT INTO orders SELECT seq, '' FROM seq_10_to_500")
  await users.using(first).create(person('ann'))
  await note(second, 1)
  const waits = Promise.resolve(note(first, 1))
  await untilOneWaits(host)
  await t.rejects(users.using(second).create(person('ben')), { code: 'storage_unavailable' })
  await t.rejects(users.using(second).create(person('cay')), { code: 'storage_unavailable' }, 'it has ended')
  await waits
  await second.rollback()
  await first.commit()
  t.equal((await users.list()).meta.total, 1)
})

test('a transaction that is committed too early leaves a log that goes on', { skip }, async (t) => {
  const { host, users } = await hosted(t)
  for (let n = 0; n < 20; n++) {
    const transaction = await host.transaction()
    const created = users.using(transaction).create(person(`early${n}`)).catch(() => null)
    for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve))
    await transaction.commit()
    await created
    await users.create(person(`after${n}`))
  }
  const found = []
  for await (const { email } of users.iterate()) found.push(email)
  t.equal(found.filter((email) => email.startsWith('after')).length, 20)
  // What was cut may have been counted: that is for check --fix.
  await knexStorage(host).rebuildCounts()
  t.equal((await users.list({ limit: 1 })).meta.total, found.length)
})

test('a foreign key of the host’s that forbids a deletion is an error, and no conflict', { skip }, async (t) => {
  const { host, users } = await hosted(t)
  const { id } = await users.create(person('ann'))
  await host.raw('CREATE TABLE bills (user_id varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, ' +
    'CONSTRAINT bills_user FOREIGN KEY (user_id) REFERENCES fastify_users_users (id)) ENGINE = InnoDB')
  await host.raw('INSERT INTO bills VALUES (?)', [id])
  await t.rejects(users.delete(id), { code: 'internal', cause: { message: /constraint bills_user/ } })
  await host.raw('DELETE FROM bills')
  await users.delete(id)
})

test('what is large together is written in several statements', { skip }, async (t) => {
  const { host } = await hosted(t)
  const { app: { users } } = await testApp(t, {
    storage: knexStorage(host, { tablePrefix: 'large_' }),
    eventLog: true,
    fields: { schema: { type: 'object', properties: { text: { type: 'string' } } } }
  })
  const text = 'é'.repeat(8000)
  const made = await users.batch(Array.from({ length: 600 }, (_, n) => (
    { op: 'create' as const, body: { ...person(`user${n}`), text } })), { atomic: true })
  t.ok(made.data.every(({ status }) => status === 201))
  const deletions = made.data.map(({ user }) => ({ op: 'delete' as const, id: String(user?.id) }))
  const gone = await users.batch(deletions, { atomic: true })
  t.ok(gone.data.every(({ status }) => status === 204))
  t.equal((await users.list()).meta.total, 0)
})

test('a transaction that began before ranges were divided counts users in the right one', { skip }, async (t) => {
  const { host, users } = await hosted(t)
  const storage = knexStorage(host)
  await users.import(Array.from({ length: 2500 }, (_, n) => person(`user${n}`)))
  for (const isolationLevel of ['repeatable read', 'read committed'] as const) {
    const transaction = await host.transaction({ isolationLevel })
    t.equal((await users.using(transaction).list({ limit: 1 })).meta.total, 2500)
    await users.list({ page: 100 })
    await until('the range is divided', async () =>
      (await host.raw('SELECT 1 FROM fastify_users_blocks'))[0].length > 1)
    await users.using(transaction).create(person('inside'))
    const { data: [first] } = await users.list({ limit: 1 })
    await users.using(transaction).delete(String(first?.id))
    await transaction.commit()
    t.match(await storage.verifyCounts(), { users: 2500, counted: 2500, wrong: 0 }, isolationLevel)
    await storage.rebuildCounts()
    const { data: [inside] } = await users.list({ email: 'inside@example.org' })
    await users.update(String(inside?.id), { email: `${isolationLevel.replace(' ', '-')}@example.org` })
  }
})
