// The conformance kit of the installed package on every store and driver, under node:test. RACES=yes: races and random
// histories too. ALONE=yes: only on the stores of the drivers in DRIVERS.
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
const schemas = []

const temporaryFile = () => join(directory, `${++count}.db`)

after(async () => {
  rmSync(directory, { recursive: true })
  const client = knex({ client: 'pg', connection: process.env.PG_URL, pool: { min: 0, max: 1 } })
  for (const name of schemas) await client.raw('DROP SCHEMA IF EXISTS ?? CASCADE', [name])
  await client.destroy()
})

/** A store on a host's Knex, which begins transactions. */
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
  const name = `matrix_${process.pid}_${++count}`
  schemas.push(name)
  return name
}

/** A store that opens its own connections: no host begins transactions on them. */
function withoutTransactions (make) {
  return () => {
    const { join: _, ...storage } = make()
    return storage
  }
}

const others = {
  memory: () => memory(),
  postgres: withoutTransactions(() =>
    postgres({ connection: process.env.PG_URL, schema: temporarySchema(), pool: { max: 4 } })
  ),
  'knex on pg': onHost(
    () => knex({ client: 'pg', connection: process.env.PG_URL, pool: { min: 0, max: 4 } }),
    () => ({ schema: temporarySchema() })
  )
}
const stores = process.env.ALONE === undefined ? others : {}
for (const driver of process.env.DRIVERS.split(',')) {
  const client = () => (driver === 'node:sqlite' ? nodeSqliteClient() : driver)
  stores[`sqlite on ${driver}`] = withoutTransactions(() => sqlite({ filename: temporaryFile(), driver }))
  stores[`knex on ${driver}`] = onHost(() =>
    knex({ client: client(), connection: { filename: temporaryFile() }, useNullAsDefault: true })
  )
}

for (const [name, create] of Object.entries(stores)) {
  // On a host's Knex the statements are those of the others: its transactions count, with all duties inside them.
  const isHost = name.startsWith('knex on ')
  const isWanted = (title) => isHost
    ? title.startsWith('join')
    : process.env.RACES !== undefined || !/\b(?:two concurrent calls|races|histories)\b/.test(title)
  const register = (title, run) => {
    if (isWanted(title) || title === 'report') test(title, run)
  }
  const report = (line) => console.log(`${name}: ${line}`)
  describe(name, () => testStorage({ test: register, create, seed: 1, report }))
}
