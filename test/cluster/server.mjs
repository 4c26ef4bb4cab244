// The server of the user's: what it says that it is, and the schemas that a run makes in it.
import pg from 'pg'
import { postgres } from 'fastify-users/adapters/postgres'

const DISTRIBUTED = '-c citus.enable_schema_based_sharding=on'

/** What an error says, with its causes. */
export function messageOf (error) {
  const messages = []
  for (let each = error; each instanceof Error; each = each.cause) messages.push(each.message)
  return messages.join(': ')
}

/** Runs SQL on a connection of its own, so that a server which was away is no matter afterwards. */
function queryOn (connectionString) {
  return async (text, values) => {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text, values)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }
}

/** What the server calls itself, such as `PostgreSQL` and `15.20`; of Citus its own version before PostgreSQL's. */
async function describe (query) {
  const [{ version: text }] = await query('SELECT version()')
  const [engine, ...rest] = text.split(/ on | \(/)[0].split(' ')
  const version = rest.join(' ')
  const [citus] = await query("SELECT 1 FROM pg_extension WHERE extname = 'citus'")
  if (citus === undefined) return { engine, version, isCitus: false }
  const [{ release }] = await query('SELECT citus_version() AS release')
  const [{ workers }] = await query('SELECT count(*) AS workers FROM citus_get_active_worker_nodes()')
  const ownVersion = /[\d.]+/.exec(release)?.[0]
  return { engine: 'Citus', version: `${ownVersion} (${engine} ${version}, ${workers} workers)`, isCitus: true }
}

/**
 * Opens the server. `prefix`: what the schemas of this run begin with; on Citus they are distributed unless `isLocal`.
 */
export async function openServer (url, prefix, { isLocal }) {
  const plain = queryOn(url)
  const { engine, version, isCitus } = await describe(plain)
  const isDistributed = isCitus && !isLocal
  const target = new URL(url)
  if (isDistributed) {
    target.searchParams.set('options', `${target.searchParams.get('options') ?? ''} ${DISTRIBUTED}`.trim())
  }
  const connection = target.href
  const query = queryOn(connection)
  let made = 0
  const newSchema = () => `${prefix}${made++}`
  const drop = (schema) => query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)

  return {
    engine,
    version: isCitus ? `${version}, ${isLocal ? 'tables of the coordinator' : 'distributed schemas'}` : version,
    isDistributed,
    connection,
    prefix,
    query,
    newSchema,
    drop,

    /** The profile that the store takes here, and why, as `inspect()` says it; without a name: it takes none. */
    async profile () {
      const schema = newSchema()
      const storage = postgres({ connection, schema, pool: { max: 2 } })
      try {
        await storage.open({ migrate: true })
        const { profile = 'classic', profileReason = '' } = await storage.inspect()
        return { name: profile, reason: profileReason }
      } catch (error) {
        return { name: null, reason: messageOf(error) }
      } finally {
        await storage.close()
        await drop(schema)
      }
    },

    /** Drops what is left of the run. */
    async close () {
      const begins = 'SELECT nspname FROM pg_namespace WHERE left(nspname, length($1::text)) = $1'
      const schemas = await query(begins, [prefix])
      for (const { nspname } of schemas) await drop(nspname)
    }
  }
}
