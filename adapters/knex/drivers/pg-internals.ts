/**
 * Everything that is used of pg beyond its documented interface. Read in pg 8.23.1.
 * `test/adapters/pg-internals.test.ts` fails if any of it changes, and says what to do then.
 */
import type { EventEmitter } from 'node:events'

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
