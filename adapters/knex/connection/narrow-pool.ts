import type { Pool } from '../drivers/knex-internals.ts'

// PostgreSQL, appendix A: too_many_connections.
const TOO_MANY_CONNECTIONS = '53300'
const NARROW_MS = 2000

/**
 * Has a pool do with the connections that it has while the server gives it no more: whoever wants another one waits
 * until one is free, and the server is asked again after two seconds.
 */
export function narrowing (client: Pool): Pool {
  const { pool, driverName } = client
  const { max } = pool

  function narrow (connections: number): void {
    if (pool.max === max) setTimeout(() => { pool.max = max }, NARROW_MS).unref()
    pool.max = Math.max(1, connections)
  }

  async function acquireConnection (): Promise<unknown> {
    try {
      return await client.acquireConnection()
    } catch (error) {
      const connections = pool.numUsed() + pool.numFree()
      const others = connections + pool.numPendingCreates()
      if (Object(error).code !== TOO_MANY_CONNECTIONS || others === 0) throw error
      narrow(connections)
      return acquireConnection()
    }
  }

  return {
    driverName,
    pool,
    acquireConnection,
    // As Knex does, but for a promise that is always kept.
    releaseConnection (connection) { pool.release(connection) }
  }
}
