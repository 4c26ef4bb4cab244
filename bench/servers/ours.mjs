// fastify-users as its users run it, with a stored key.
// PLACE: postgres://…, mariadb://…, an SQLite file, or nothing for memory. DRIVER: the driver of SQLite. KNEX: the
// client of a Knex instance, which the storage is put on. POOLER: PostgreSQL is behind one. EVENT_LOG: with the log.
// TENANT: the tenant that the key is bound to. SEARCHABLE: a declared field that searches read.
import Fastify from 'fastify'
import knex from 'knex'
import { knexStorage } from '../../dist/adapters/knex/index.js'
import { memory } from '../../dist/adapters/memory/index.js'
import { mariadb } from '../../dist/adapters/mariadb.js'
import { postgres } from '../../dist/adapters/postgres.js'
import { sqlite } from '../../dist/adapters/sqlite.js'
import users from '../../dist/lib/index.js'
import { createPeople } from '../lib/people.mjs'
import { announce, PLACE, SIZE } from '../lib/serve.mjs'

const { DRIVER, KNEX, POOLER, TENANT, SEARCHABLE } = process.env

/** As a host makes it, with the settings that the documentation gives. */
function openKnex () {
  if (KNEX === 'pg') return knex({ client: KNEX, connection: PLACE, pool: { min: 0, max: 10 } })
  const afterCreate = (connection, done) => {
    const settings = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'
    if (KNEX === 'sqlite3') return connection.exec(settings, done)
    connection.exec(settings)
    done()
  }
  return knex({ client: KNEX, connection: { filename: PLACE }, useNullAsDefault: true, pool: { afterCreate } })
}

function openStorage () {
  if (PLACE === '') return memory()
  if (KNEX !== undefined) return knexStorage(openKnex(), POOLER === 'true' ? { schema: 'public' } : {})
  if (PLACE.startsWith('mariadb:')) return mariadb({ connection: PLACE })
  if (PLACE.startsWith('postgres:')) return postgres({ connection: PLACE, pooler: POOLER === 'true' })
  return sqlite({ filename: PLACE, driver: DRIVER })
}

const storage = openStorage()
const app = Fastify()
await app.register(users, {
  prefix: '/v1',
  storage,
  migrate: true,
  eventLog: process.env.EVENT_LOG === 'true',
  tenants: TENANT !== undefined,
  ...SEARCHABLE !== undefined && {
    fields: { schema: { type: 'object', properties: { [SEARCHABLE]: { type: 'string' } } }, searchable: [SEARCHABLE] }
  }
})
if (PLACE === '') await createPeople(storage, Number(SIZE))
const { apiKeys } = TENANT === undefined ? app.users : app.users.tenant(TENANT)
const scopes = ['users:read', 'users:write', ...process.env.EVENT_LOG === 'true' ? ['events:read'] : []]
const { key } = await apiKeys.create({ name: 'bench', scopes })
announce(await app.listen({ port: 0 }), key)
