// Concurrent writes to the SQL stores are combined, and each gets its own answer, also while another transaction holds
// what some of them need.
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { migrated } from '../helpers/migrated.ts'
import { USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { connectPg, pgUrlWith, waitingForLock } from '../helpers/postgres.ts'
import { eventOf, everyone, idOf, rename, userOf } from '../helpers/records.ts'
import { stores, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addUser, changeUser, wholeLog } from '../helpers/writes.ts'

const LATER = '2026-02-02T00:00:00.000Z'
const numbers = (length: number) => Array.from({ length }, (_, n) => n)
const codeOf = (answer: PromiseSettledResult<unknown>): unknown =>
  answer.status === 'fulfilled' ? 'ok' : answer.reason.code

/** The number of changes in the log that take a value before the change that gives it up. */
async function takenTooEarly (storage: Storage): Promise<number> {
  const ownerOf = new Map<unknown, string>()
  let count = 0
  for (const { subject, data } of await wholeLog(storage)) {
    for (const [value, owner] of ownerOf) if (owner === subject) ownerOf.delete(value)
    const { legacyId } = Object(data).fields
    if (ownerOf.has(legacyId)) count++
    ownerOf.set(legacyId, subject)
  }
  return count
}

for (const { name, create: make } of stores.filter(({ name }) => name !== 'memory')) {
  test(`${name}: records that a unique value is given up before it is taken`, async (t) => {
    const storage = await migrated(t, await make(t), { unique: ['legacyId'] })
    let n = 0
    const create = (id: number, legacyId: string) => {
      const user = userOf(id, { fields: { legacyId } })
      return addUser(storage, user, { event: eventOf(n++, 'user.created') })
    }
    const change = (id: number, legacyId: string) =>
      changeUser(storage, idOf('usr', id), { fields: { legacyId } }, {
        updatedAt: LATER, event: eventOf(n++, 'user.updated')
      })
    for (let id = 0; id < 60; id += 3) {
      await Promise.all([0, 1, 2].map((i) => create(id + i, `${id + i}`)))
      const answers = await Promise.allSettled([
        // Those that follow it wait for it.
        change(id, `other ${id}`),
        change(id + 2, `${id + 1}`),
        change(id + 1, `free ${id}`)
      ])
      const [first, taken, last] = answers.map(codeOf)
      t.strictSame([first, last], ['ok', 'ok'])
      t.match(taken, /^(?:ok|field_taken)$/)
    }
    t.equal(await takenTooEarly(storage), 0)
  })
}

/** A storage, and a transaction of another connection on its tables. */
async function besideTransaction (t: Test) {
  const schema = temporarySchema(t)
  // On a slow machine no wait must end before the other transaction.
  const connection = pgUrlWith({ application_name: schema })
  const storage = await migrated(t, postgres({ connection, schema, statementTimeoutMs: 60_000 }))
  const other = await connectPg(t)
  await other.query(`SET search_path = "${schema}"; BEGIN`)
  const waiting = (statements: number) => until(`${statements} statements that wait for a lock`,
    async () => (await waitingForLock(schema)).length >= statements)
  return { storage, other, waiting }
}

test('a user that another transaction has locked keeps no other update waiting', async (t) => {
  const { storage, other, waiting } = await besideTransaction(t)
  const ids = [3, 20].map((n) => idOf('usr', n))
  await Promise.all(numbers(60).map((n) => addUser(storage, userOf(n))))
  await other.query('SELECT 1 FROM fastify_users_users WHERE id = ANY($1) FOR UPDATE', [ids])
  const update = (n: number, name: string) =>
    changeUser(storage, idOf('usr', n), rename(name), { updatedAt: LATER })
  // Two single updates take both places of groups, and give them back.
  const locked = [update(3, 'new 3')]
  await waiting(1)
  locked.push(update(20, 'new 20'))
  await waiting(2)
  const free = numbers(60).filter((n) => n !== 3 && n !== 20)
  const answers = await Promise.all(free.map((n) => update(n, `new ${n}`)))
  t.strictSame(answers.map((each) => each.user.name), free.map((n) => `new ${n}`))
  // Now the locked ones are in a group with others.
  const again = [0, 3, 1, 20, 2].map((n) => update(n, 'again'))
  await Promise.all([0, 2, 4].map((n) => again[n]))
  await other.query('COMMIT')
  t.ok((await Promise.all([...locked, ...again])).every(({ changed }) => changed))
})

for (const end of ['COMMIT', 'ROLLBACK']) {
  test(`an address that another transaction has inserted keeps no other creation waiting: ${end}`, async (t) => {
    const { storage, other, waiting } = await besideTransaction(t)
    await other.query(`INSERT INTO fastify_users_users ${USER_COLUMN_LIST}
      VALUES ('${idOf('usr', 999)}', 'x', 'x', 'x', 'user130@example.org', 1, now(), now())`)
    const create = (n: number) => addUser(storage, userOf(n))
    // In the middle of the others.
    const before = numbers(30).map((n) => create(100 + n))
    const wanted = create(130).then(() => 'ok', ({ code }) => code)
    const after = numbers(29).map((n) => create(131 + n))
    const users = await Promise.all([...before, ...after])
    t.strictSame(users, numbers(60).filter((n) => n !== 30).map((n) => userOf(100 + n)))
    await waiting(1)
    await other.query(end)
    t.equal(await wanted, end === 'COMMIT' ? 'email_taken' : 'ok')
  })
}

test('a creation never appears in a list before an older one of its process that is still running', async (t) => {
  const { storage, other } = await besideTransaction(t)
  await addUser(storage, userOf(59))
  // The rows of slow users are not written until the gate is open. That is no wait for a lock.
  await other.query(`CREATE TABLE gate ();
    CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$ BEGIN
      WHILE NOT EXISTS (SELECT 1 FROM gate) LOOP PERFORM pg_sleep(0.005); END LOOP;
      RETURN NEW;
    END $$;
    CREATE TRIGGER slowly BEFORE INSERT ON fastify_users_users
      FOR EACH ROW WHEN (NEW.name = 'slow') EXECUTE FUNCTION slowly();
    COMMIT`)
  const create = (n: number, name: string) => addUser(storage, userOf(n, { name }))
  const older = [create(101, 'slow'), create(102, 'slow')]
  await until('a slow creation', async () => (await other.query(
    "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%' || current_schema || '%'"
  )).rows.length > 0)
  const newer = create(103, 'quick')
  const newest = async () => {
    const { items } = await storage.users.list(everyone, { order: 'desc', limit: 1, from: { offset: 0 } })
    return items.map(({ id }) => id)
  }
  // Without its turn, it is there within the first few.
  const seen = new Set<string>()
  let reads = 0
  while (seen.size < 2 && reads++ < 100) for (const id of await newest()) seen.add(id)
  t.strictSame([...seen], [idOf('usr', 59)])
  await other.query('INSERT INTO gate DEFAULT VALUES')
  await Promise.all([...older, newer])
  t.strictSame(await newest(), [idOf('usr', 103)])
})
