// Two mounts in two distributed schemas on Citus: on two workers, of which one dies, and one moved under writes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import Fastify from 'fastify'
import users from 'fastify-users'
import { postgres } from 'fastify-users/adapters/postgres'
import { until } from '../../faults/lib/until.mjs'
import { startLoad } from './load.mjs'

const SCOPES = ['users:read', 'users:write', 'users:delete', 'events:read']
const REVIVAL_MS = 120_000
/** How long, after a fault, requests may still be refused. */
const GRACE_MS = 5000

/** The worker that has a schema: all of its tables are on one. */
async function workerOf ({ query }, schema) {
  const rows = await query(`SELECT DISTINCT s.nodename AS host, s.nodeport AS port FROM citus_shards AS s
    JOIN pg_class AS c ON c.oid = s.table_name JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND s.citus_table_type = 'schema'`, [schema])
  assert.equal(rows.length, 1, `all tables of ${schema} are on one worker: ${JSON.stringify(rows)}`)
  return rows[0]
}

/** A worker other than this one. */
async function otherWorker ({ query }, { host, port }) {
  const [other] = await query(`SELECT nodename AS host, nodeport AS port FROM pg_dist_node
    WHERE isactive AND shouldhaveshards AND (nodename, nodeport) <> ($1, $2::int) LIMIT 1`, [host, port])
  assert.ok(other, 'the cluster has two workers')
  return other
}

const move = ({ query }, schema, { host, port }) =>
  query("SELECT citus_schema_move(quote_ident($1)::regnamespace, $2, $3::int, 'force_logical')", [schema, host, port])

/** Runs with a host that has two mounts, each in a schema of its own. */
async function withMounts (server, run) {
  const app = Fastify()
  const schemas = [server.newSchema(), server.newSchema()]
  const mounts = []
  try {
    for (const [i, schema] of schemas.entries()) {
      const storage = postgres({ connection: server.connection, schema, pool: { max: 8 } })
      const decoratorName = `users${i}`
      await app.register(users, {
        prefix: `/${i}/v1`, storage, migrate: true, eventLog: true, decoratorName
      })
      const { key } = await app[decoratorName].apiKeys.create({ name: 'cluster', scopes: SCOPES })
      mounts.push({ schema, storage, key })
    }
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    for (const [i, mount] of mounts.entries()) mount.origin = `${origin}/${i}`
    return await run(mounts)
  } finally {
    await app.close()
    for (const schema of schemas) await server.drop(schema)
  }
}

/** The workers of both mounts; the second is moved where Citus has put it on that of the first. */
async function apart (server, [first, second]) {
  const worker = await workerOf(server, first.schema)
  const [other] = [await workerOf(server, second.schema)]
  if (worker.port === other.port && worker.host === other.host) {
    await move(server, second.schema, await otherWorker(server, worker))
  }
  const workers = [worker, await workerOf(server, second.schema)]
  assert.notDeepEqual(workers[0], workers[1])
  return workers
}

/** Runs a command of the user's for a worker. */
async function command (text, { host, port }) {
  const env = { ...process.env, WORKER_HOST: host, WORKER_PORT: String(port) }
  const child = spawn(text, { shell: true, stdio: ['ignore', 'ignore', 'inherit'], env })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0, `the command for ${host}:${port} ended with ${code}: ${text}`)
}

async function dies (server, { kill, revive }) {
  await withMounts(server, async (mounts) => {
    const [worker] = await apart(server, mounts)
    const [hit, spared] = [await startLoad(mounts[0], 1), await startLoad(mounts[1], 2)]
    const window = { from: 0, to: null }
    try {
      await Promise.all([hit.acknowledged(100), spared.acknowledged(100)])
      window.from = performance.now()
      await command(kill, worker)
      try {
        const down = performance.now()
        await until('the 503 of the mount on the worker', () => hit.refusedSince(down) >= 20)
        await spared.acknowledged(100)
        assert.equal(hit.acknowledgedSince(down), 0, 'nobody acknowledges what a dead worker should keep')
      } finally {
        await command(revive, worker)
      }
      await hit.acknowledged(50, REVIVAL_MS)
      window.to = performance.now()
      await hit.acknowledged(50)
    } finally {
      await Promise.all([hit.stop(), spared.stop()])
    }
    await hit.verify([window], GRACE_MS)
    await spared.verify([], 0)
  })
}

async function moves (server) {
  await withMounts(server, async ([mount]) => {
    const from = await workerOf(server, mount.schema)
    const to = await otherWorker(server, from)
    const load = await startLoad(mount, 3)
    const window = { from: 0, to: null }
    try {
      await load.acknowledged(100)
      window.from = performance.now()
      await move(server, mount.schema, to)
      window.to = performance.now()
      await load.acknowledged(100)
    } finally {
      await load.stop()
    }
    assert.deepEqual(await workerOf(server, mount.schema), to)
    await load.verify([window], GRACE_MS)
  })
}

/** What two mounts must do; without the commands that kill and revive a worker, none is killed. */
export function mountDuties (server, commands) {
  return [
    { name: 'mounts: two are on different workers', run: () => withMounts(server, (mounts) => apart(server, mounts)) },
    ...commands === null
      ? []
      : [{
          name: 'mounts: a dead worker is a 503 of its mounts alone, and nothing acknowledged is lost',
          run: () => dies(server, commands)
        }],
    {
      name: 'mounts: a schema moves under writes: nothing is lost, each event comes once, the counts are right',
      run: () => moves(server)
    }
  ]
}
