// A PostgreSQL that can do little: what servers that speak its language often lack is refused.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { povertyOf } from '../servers/poverty.mjs'
import { connected, pgUrl } from './stores.ts'

const ROLE = 'fastify_users_poor'
const DATABASE = 'fastify_users_poor'

const run = (url: string, statements: readonly string[]): Promise<void> => connected(url, async (client) => {
  for (const statement of statements) await client.query(statement)
})

/** The URL of the poor database, as the superuser. */
export function poorDatabaseUrl (): string {
  const url = new URL(pgUrl())
  url.pathname = `/${DATABASE}`
  return url.href
}

let ready: Promise<string> | null = null

/** Makes the database once for all processes of a run. */
async function make (): Promise<string> {
  const password = 'poor'
  const inDatabase = poorDatabaseUrl()
  const url = new URL(inDatabase)
  url.username = ROLE
  url.password = password
  await connected(pgUrl(), async (client) => {
    // CREATE DATABASE is in no transaction, so this lock is held by the session.
    await client.query("SELECT pg_advisory_lock(hashtext('fastify-users poor'))")
    const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
    if (rows.length > 0) return
    await client.query(`DROP ROLE IF EXISTS ${ROLE}`)
    await client.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${password}'`)
    await client.query(`CREATE DATABASE ${DATABASE}`)
    await run(inDatabase, povertyOf(ROLE, DATABASE))
  })
  return url.href
}

/** The URL of the poor database, as its role. */
function poorUrl (): Promise<string> {
  ready ??= make()
  return ready
}

// What no right can deny is refused before it is sent.
const REFUSED = /^\s*(?:LISTEN|LOCK TABLE|NOTIFY|DO)\b/i
let isPatched = false

/** Has the driver refuse what a poor server refuses. Some of them know SERIALIZABLE alone. */
function patchDriver (): void {
  if (isPatched) return
  isPatched = true
  const send: unknown = Reflect.get(pg.Client.prototype, 'query')
  function query (this: unknown, config: unknown, ...rest: unknown[]): unknown {
    const { user, connectionParameters } = Object(this)
    if (user !== ROLE) return Reflect.apply(Object(send), this, [config, ...rest])
    const isStrict = String(connectionParameters.options).includes('serializable')
    const text = String(typeof config === 'string' ? config : Object(config).text)
    if (REFUSED.test(text)) return Promise.reject(Object.assign(new Error('not supported'), { code: '0A000' }))
    const isBegin = isStrict && text.startsWith('BEGIN')
    const strict = isBegin ? text.replace(/READ COMMITTED|REPEATABLE READ/, 'SERIALIZABLE') : text
    const given = typeof config === 'string' ? strict : Object.assign(Object(config), { text: strict })
    return Reflect.apply(Object(send), this, [given, ...rest])
  }
  Reflect.set(pg.Client.prototype, 'query', query)
}

/** A schema in the poor database, dropped with the test. */
export async function poorSchema (t: Test): Promise<string> {
  const [url, schema] = [await poorUrl(), `t_${randomBytes(6).toString('hex')}`]
  t.teardown(() => run(url, [`DROP SCHEMA IF EXISTS "${schema}" CASCADE`]))
  return schema
}

/** How to connect to the poor database. `isStrict`: every transaction is SERIALIZABLE. */
export async function poorConnection (isStrict = false): Promise<{ connectionString: string, options: string }> {
  const connectionString = await poorUrl()
  patchDriver()
  return { connectionString, options: isStrict ? '-c default_transaction_isolation=serializable' : '' }
}

/** Opens PostgreSQL that can do little, with the profile that is found. */
export const poorStorage = async (schema: string, isStrict = false): Promise<Storage> =>
  postgres({ connection: await poorConnection(isStrict), schema, pool: { max: 8 } })
