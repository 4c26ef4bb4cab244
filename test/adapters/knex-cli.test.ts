// A host's migrations on the command line of Knex work on beside our tables.
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import knex from 'knex'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { sqliteDrivers } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const run = promisify(execFile)
const NODE_PATH = join(import.meta.dirname, '..', '..', 'node_modules')
const CLI = join(NODE_PATH, 'knex', 'bin', 'cli.js')
// The configuration is printed into a file, so its client must have a name.
const namedDrivers = sqliteDrivers.filter(({ driver }) => driver === 'better-sqlite3' || driver === 'sqlite3')
const clients = [
  ...namedDrivers.map(({ driver, skip }) => ({ client: driver, skip })),
  { client: 'pg', skip: false }
]

for (const { client, skip } of clients) {
  test(`${client}: knex migrate:latest, rollback and list work as before`, { skip }, async (t) => {
    const cwd = await temporaryDirectory(t)
    const schema = temporarySchema(t)
    await sql(`create schema "${schema}"`)
    const config = client === 'pg'
      ? { client, connection: pgUrl(), searchPath: [schema] }
      : { client, connection: { filename: join(cwd, 'host.db') }, useNullAsDefault: true }
    const settings = { directory: './migrations', extension: 'cjs', loadExtensions: ['.cjs'] }
    const knexfile = join(cwd, 'knexfile.cjs')
    await writeFile(knexfile, `module.exports = ${JSON.stringify({ ...config, migrations: settings })}`)
    await mkdir(join(cwd, 'migrations'))
    const addMigration = (n: number) => writeFile(join(cwd, 'migrations', `${n}_table.cjs`), `
      exports.up = (knex) => knex.schema.createTable('users${n}', (table) => { table.increments() })
      exports.down = (knex) => knex.schema.dropTable('users${n}')
    `)
    // The command line looks for Knex beside the knexfile.
    const env = { PATH: process.env['PATH'], NODE_PATH }
    const command = async (name: string) =>
      (await run(...plainNode(CLI, name, '--knexfile', knexfile), { cwd, env })).stdout

    await addMigration(1)
    t.match(await command('migrate:latest'), 'Batch 1 run: 1 migrations')
    const host = knex(config)
    t.teardown(() => host.destroy())
    const storage = knexStorage(host)
    await storage.open({ migrate: true })
    await addMigration(2)
    t.match(await command('migrate:latest'), 'Batch 2 run: 1 migrations')
    await t.resolves(storage.open())
    t.match(await command('migrate:rollback'), 'Batch 2 rolled back: 1 migrations')
    await storage.rollback(0)
    t.match(await command('migrate:list'), /1_table.cjs/)
    t.match(await command('migrate:latest'), 'Batch 2 run: 1 migrations')
    await rm(join(cwd, 'migrations', '2_table.cjs'))
  })
}
