// Every storage of ours passes the conformance kit, on the real thing; on a host's Knex with settings of its own too.
import { join } from 'node:path'
import knex from 'knex'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testStorage } from '../../adapters/testing/index.ts'
import { pgUrl, stores, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

for (const store of stores) {
  test(store.name, async (t) => {
    testStorage({ test: (name, run) => t.test(name, run), create: () => store.create(t) })
  })
}

// What the snake-case mappers of Knex's field do: every identifier on its way in, every row on its way out.
const mappers = {
  wrapIdentifier: (value: string, original: (value: string) => string) => original(value.toUpperCase()),
  postProcessResponse: () => { throw new Error('the host processes our rows') }
}

test('sqlite on a Knex instance of the host', async (t) => {
  const create = async () => {
    const host = knex({ client: 'sqlite3', connection: { filename: join(await temporaryDirectory(t), 'host.db') }, useNullAsDefault: true, ...mappers })
    t.teardown(() => host.destroy())
    return knexStorage(host, { tablePrefix: 'people_' })
  }
  testStorage({ test: (name, run) => t.test(name, run), create })
})

test('postgres on a Knex instance of the host, with another isolation level', async (t) => {
  const create = () => {
    const host = knex({ client: 'pg', connection: { connectionString: pgUrl(), options: '-c default_transaction_isolation=serializable -c timezone=Asia/Kathmandu' }, pool: { min: 0, max: 8 }, ...mappers })
    t.teardown(() => host.destroy())
    return knexStorage(host, { schema: temporarySchema(t) })
  }
  testStorage({ test: (name, run) => t.test(name, run), create })
})
