// A store on a Knex instance of the host's passes the kit, in transactions of the host's too.
import { test } from 'tap'
import { isOfTransactions, mappers, onHosts, runDuties, runKit } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { mariadbHost, recycledDatabases, withoutMariadb } from '../helpers/mariadb.ts'

test('a Knex instance of the host: mysql2 with mappers', { skip: from('ci') || withoutMariadb }, async (t) => {
  const create = onHosts((place) => ({ host: mariadbHost(place, mappers) }), (at) => recycledDatabases(t, at))
  if (from('nightly') === false) runKit(t, create, { transactions: true })
  else runDuties(t, create, isOfTransactions)
})
