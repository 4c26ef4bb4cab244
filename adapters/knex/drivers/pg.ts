import type { EventEmitter } from 'node:events'
import type { CommitWatch, Driver } from './driver.ts'
import { takesStatements, TextStatement } from './pg-statement.ts'

interface Connection {
  query (statement: object): void
}

function isConnection (connection: unknown): connection is Connection {
  return typeof connection === 'object' && connection !== null && 'query' in connection
}

const names = new Map<string, string>()

/** The name of a prepared statement. There are few texts, because values are never part of one. */
function nameOf (text: string): string {
  const name = names.get(text) ?? `fastify_users_${names.size + 1}`
  names.set(text, name)
  return name
}

/** If PostgreSQL has aborted a transaction, it answers COMMIT with the command tag ROLLBACK. */
function watchCommit (connection: unknown): CommitWatch | null {
  let last = ''
  const stop = onCommandComplete(connection, (tag) => { if (tag === 'COMMIT' || tag === 'ROLLBACK') last = tag })
  return stop === null ? null : { committed: () => last === 'COMMIT', stop }
}

/** The `pg` package. */
export const pgDriver: Driver = {
  run (connection, text, values, prepare = false) {
    if (!isConnection(connection)) return Promise.reject(new TypeError('not a connection of pg'))
    const name = prepare ? nameOf(text) : undefined
    return new Promise((resolve, reject) => {
      const statement = new TextStatement(text, name, values, (error, answer) => {
        if (error != null) reject(error)
        else resolve(Array.isArray(answer) ? answer : answer.rows)
      })
      // A copy has no methods: it is a statement for pg to make.
      connection.query(takesStatements(connection) ? statement : { ...statement })
    })
  },
  // PostgreSQL runs the statements of a connection in order.
  keepOrder () {},
  watchCommit,
  destroySocket,
  // A pooler may be between.
  preparesOnHosts: false,
  // They end with the connection.
  finalizeStatements () {}
}

/**
 * Everything that is used of pg beyond its documented interface. Read in pg 8.23.1.
 * If it changes, `test/adapters/pg-internals.test.ts` or a test of what it is used for fails.
 */

/** A connection of pg, with its protocol and its socket. */
interface PgClient {
  connection: EventEmitter & { stream: { destroy (): void } }
}

function isPgClient (value: unknown): value is PgClient {
  return typeof value === 'object' && value !== null && 'connection' in value
}

/** Closes the socket of a connection without waiting for the server. */
export function destroySocket (connection: unknown): void {
  if (isPgClient(connection)) connection.connection.stream.destroy()
}

/** Calls the listener with the command tag of each statement that completes. Returns a function that removes it. */
export function onCommandComplete (connection: unknown, listener: (tag: string) => void): (() => void) | null {
  if (!isPgClient(connection)) return null
  const protocol = connection.connection
  const handle = ({ text }: { text: string }): void => listener(text)
  protocol.on('commandComplete', handle)
  return () => { protocol.off('commandComplete', handle) }
}
