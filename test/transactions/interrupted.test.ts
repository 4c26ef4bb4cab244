// The host ends its transaction while a call in it is under way: what is stored, and what events say, stay the same.
import { test } from 'tap'
import { knexHosts, shop } from '../helpers/knex-hosts.ts'

const MOMENTS = 40

/** Options of a creation: every other one has an Idempotency-Key, and so takes more statements. */
const optionsOf = (i: number, email: string) => i % 2 === 0 ? {} : { idempotencyKey: email }

/** Lets a call that has begun advance, to its nth moment: first by microtasks, then by turns of the event loop. */
async function advance (n: number): Promise<void> {
  for (let step = 0; step < n; step++) await null
  // Long enough, at last, for the answers of a database in another process.
  for (let turn = 0; turn < Math.max(0, n - 20) ** 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}

for (const { driver, skip, connect } of knexHosts) {
  test(`a commit at any moment of a creation on ${driver} keeps what was answered`, { skip }, async (t) => {
    const { host, users, events } = await shop(t, connect)
    let answered = 0
    for (let i = 0; i < MOMENTS; i++) {
      const email = `near${i}@example.org`
      const transaction = await host.transaction()
      const creating = users.using(transaction).create({ name: email, email }, optionsOf(i, email))
        .then(() => true, () => false)
      await (i === MOMENTS - 1 ? creating : advance(i))
      await transaction.commit()
      const succeeded = await creating
      const stored = (await users.list({ email })).meta.total
      const seen = await events()
      // A commit that comes too early can keep a user whose creation was rejected, but no event may be wrong.
      if (!succeeded) t.ok(seen.length <= stored, 'no event for what is not stored')
      else t.strictSame([stored, seen], [1, [`user.created ${email}`]])
      if (succeeded) answered++
    }
    t.ok(answered > 0, `${answered} of ${MOMENTS} creations were answered`)
  })

  test(`a host on ${driver} that fails during a creation leaves its connection clean`, { skip }, async (t) => {
    const { host, users, events, order } = await shop(t, connect)
    for (let i = 0; i < MOMENTS; i++) {
      const email = `away${i}@example.org`
      let creating: Promise<unknown> = Promise.resolve()
      await t.rejects(host.transaction(async (trx) => {
        creating = users.using(trx).create({ name: 'Away', email }, optionsOf(i, email))
        const failing = async () => {
          await advance(i)
          if (i > 30) await trx.raw('select 1')
          throw new Error('the host failed')
        }
        await Promise.all([creating, failing()])
      }), /the host failed/)
      await creating.catch(() => {})
      await host.transaction(async (trx) => { await order(trx, `order ${i}`) })
    }
    t.strictSame(await events(), [])
    t.equal((await users.list({ q: 'away' })).meta.total, 0)
    const orders = await host('orders').where('user_id', 'like', 'order%')
    t.equal(orders.length, MOMENTS, 'the next transaction on the connection is not disturbed')
  })
}
