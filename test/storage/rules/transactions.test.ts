// Our rules in a host's transaction: all of it is there after the commit, and nothing after a rollback.
import { test } from 'tap'
import { knexStorage } from '../../../adapters/knex/index.ts'
import { type Repository, repositoryIn, repositoryOf } from '../../../lib/storage/repository.ts'
import { knexHosts } from '../../helpers/knex-hosts.ts'
import { from } from '../../helpers/level.ts'
import {
  addKey, addWebhooks, after, awayIn, create, deliver, deliveriesIn, deliveryOf, done, eventOf, eventsIn, idOf, idsOf,
  keyed, keysIn, purge, putAway, readdress, remove, rename, restore, rotate, timeOf, update, userOf, usersIn, webhookOf
} from './values.ts'

const event = (n: number, type: string) => ({ event: eventOf(n, type) })

async function everyCollection (repository: Repository): Promise<unknown> {
  const { webhooks } = repository
  return [
    await usersIn(repository), await awayIn(repository), await keysIn(repository), await eventsIn(repository),
    await webhooks.find(idOf('whk', 1)), await deliveriesIn(repository)
  ]
}

for (const { driver, skip, connect } of knexHosts) {
  test(`writes in a transaction of a host's, with ${driver}`, { skip: skip || from('ci') }, async (t) => {
    const host = await connect(t)
    t.teardown(() => host.destroy())
    const storage = knexStorage(host)
    await storage.open({ migrate: true })
    const outside = repositoryOf(storage)
    for (const n of [1, 2, 4, 5]) await outside.users.writeOne(create(userOf(n)))
    for (const n of [4, 5]) await outside.users.writeOne(putAway(n))
    await outside.users.writeOne(update(1, rename('Remembered')))
    const before = await everyCollection(outside)
    for (const end of ['rollback', 'commit'] as const) {
      const transaction = await host.transaction()
      const inside = repositoryIn(storage.join(transaction))
      const { users, apiKeys, webhooks } = inside
      const call = () => users.write([create(userOf(3), event(1, 'user.created'))], keyed(1))
      t.strictSame(await call(), { outcomes: [done(userOf(3))], note: null, replayed: false })
      t.equal((await call()).replayed, true)
      t.match(await users.writeOne(update(1, rename('Inside'), event(2, 'user.updated'))), { user: { version: 3 } })
      t.strictSame(await users.writeOne(update(1, readdress(userOf(2).email), event(3, 'user.updated'))),
        { code: 'email_taken' }, 'and the transaction goes on')
      t.strictSame(await users.writeOne(create(userOf(9, { email: userOf(2).email }))), { code: 'email_taken' })
      t.strictSame(await users.writeOne(restore(4)), done(after(4)))
      t.strictSame(await users.writeOne(purge(5, event(4, 'user.purged'))), done(userOf(5)))
      t.match(await users.writeOne(remove(2, event(5, 'user.deleted'))), { code: 'done' })
      await apiKeys.write(addKey(1, {}, { ...event(6, 'api_key.created'), onlyFirst: true }))
      await apiKeys.write(rotate(1, 2, event(7, 'api_key.rotated')))
      await t.rejects(apiKeys.write(addKey(1)), { code: 'fault' })
      await addWebhooks(inside, 1)
      await deliver(inside, [deliveryOf(1)])
      const claim = { now: timeOf(9), until: timeOf(20), limit: 9 }
      t.equal((await webhooks.claim(idOf('whk', 1), claim)).length, 1)
      await transaction[end]()
      if (end === 'rollback') t.strictSame(await everyCollection(outside), before)
    }
    t.strictSame((await usersIn(outside)).map(({ id, name }) => [id, name]),
      [[idOf('usr', 1), 'Inside'], [idOf('usr', 3), 'User 3'], [idOf('usr', 4), 'User 4']])
    t.strictSame([await awayIn(outside), (await keysIn(outside)).map(({ id }) => id)], [[], idsOf('key', [1, 2])])
    t.strictSame((await eventsIn(outside)).map(({ id }) => id), idsOf('evt', [1, 2, 4, 5, 6, 7]))
    t.match([await outside.webhooks.find(idOf('whk', 1)), await deliveriesIn(outside)], [webhookOf(1), [{ claims: 1 }]])
    t.match(await outside.users.writeOne(update(1, { fields: { a: 1 } })), { user: { name: 'Inside', version: 4 } },
      'what is remembered outside is not believed')
  })
}
