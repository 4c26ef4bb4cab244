// The conformance kit on every store and driver of the packed package, under node:test, in a project that has installed it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import knex from 'knex'
import { knexStorage, nodeSqliteClient } from 'fastify-users/adapters/knex'
import { memory } from 'fastify-users/adapters/memory'
import { postgres } from 'fastify-users/adapters/postgres'
import { sqlite } from 'fastify-users/adapters/sqlite'
import { testStorage } from 'fastify-users/testing'

const directory = mkdtempSync(join(tmpdir(), 'fastify-users-matrix-'))
let count = 0
const filename = () => join(directory, `${++count}.db`)
const schema = () => `matrix_${process.pid}_${++count}`
const schemas = []

after(async () => {
  rmSync(directory, { recursive: true })
  const client = knex({ client: 'pg', connection: process.env.PG_URL, pool: { min: 0, max: 1 } })
  for (const name of schemas) await client.raw('DROP SCHEMA IF EXISTS ?? CASCADE', [name])
  await client.destroy()
})

/** A store on a Knex of the host's, which begins its transactions. */
function onHost (make, options = () => ({})) {
  return async () => {
    const host = make()
    const begin = async () => {
      const transaction = await host.transaction()
      return { transaction, commit: async () => transaction.commit(), rollback: async () => transaction.rollback() }
    }
    return { storage: knexStorage(host, options()), begin, destroy: () => host.destroy() }
  }
}

function temporarySchema () {
  const name = schema()
  schemas.push(name)
  return name
}

const unhosted = (make) => () => ({ ...make(), supports: { transactions: false }, joinTransaction: () => { throw new TypeError('not here') } })
const stores = {
  memory: () => memory(),
  postgres: unhosted(() => postgres({ connection: process.env.PG_URL, schema: temporarySchema(), pool: { max: 4 } })),
  'knex on pg': onHost(() => knex({ client: 'pg', connection: process.env.PG_URL, pool: { min: 0, max: 4 } }), () => ({ schema: temporarySchema() }))
}
for (const driver of process.env.DRIVERS.split(',')) {
  const client = () => driver === 'node:sqlite' ? nodeSqliteClient() : driver
  stores[`sqlite on ${driver}`] = unhosted(() => sqlite({ filename: filename(), driver }))
  stores[`knex on ${driver}`] = onHost(() => knex({ client: client(), connection: { filename: filename() }, useNullAsDefault: true }))
}

for (const [name, create] of Object.entries(stores)) {
  describe(name, () => testStorage({ test, create, report: (line) => console.log(`${name}: ${line}`) }))
}
