// A store on a Knex instance of the host's passes the kit, in transactions of the host's too.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { type CreateFor, isOfTransactions, openedForKit, runDuties, runKit, transactionsOf } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { mariadbHost, recycledDatabases, withoutMariadb } from '../helpers/mariadb.ts'

// Like Knex's snake-case mappers: they change every identifier in a query, and every row of an answer.
const mappers = {
  wrapIdentifier: (value: string, original: (value: string) => string) => original(value.toUpperCase()),
  postProcessResponse: () => { throw new Error('the host processes our rows') }
}

test('a Knex instance of the host: mysql2 with mappers', { skip: from('ci') || withoutMariadb }, async (t) => {
  const hostOf = (database: string) => mariadbHost(database, mappers)
  const places = recycledDatabases(t, async (database) => {
    const host = hostOf(database)
    const storage = await openedForKit(knexStorage(host))
    return { ...storage, close: async () => { await storage.close(); await host.destroy() } }
  })
  const create: CreateFor = async (isNew) => {
    const place = await places.take(isNew)
    const host = hostOf(place)
    const destroy = async () => {
      await host.destroy()
      await places.giveBack(place)
    }
    return { storage: knexStorage(host), begin: transactionsOf(host), destroy }
  }
  if (from('nightly') === false) runKit(t, create, { transactions: true })
  else runDuties(t, create, isOfTransactions)
})
