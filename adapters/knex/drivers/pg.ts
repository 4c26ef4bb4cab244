import type { EventEmitter } from 'node:events'
import type { Driver, Ending, Param, Row } from './driver.ts'

interface PgConnection {
  /** The protocol underneath, whose messages are events. */
  connection: EventEmitter & { stream: { cork (): void, uncork (): void } }
  query (config: { name?: string | undefined, text: string, values: readonly Param[], types: { getTypeParser: () => (text: string) => string } }): Promise<{ rows: Row[] }>
}

function isPg (connection: unknown): connection is PgConnection {
  return typeof connection === 'object' && connection !== null && 'query' in connection
}

// Every value comes as text: a host may have set parsers of its own on the driver, for the whole process.
const textOnly = { getTypeParser: () => (text: string) => text }

const names = new Map<string, string>()

/** The name under which connections of PostgreSQL keep a statement. Texts are few: values are never part of one. */
function nameOf (text: string): string {
  const name = names.get(text) ?? `fastify_users_${names.size + 1}`
  names.set(text, name)
  return name
}

/** Watches a connection of pg: the COMMIT of a transaction that PostgreSQL has given up is answered, with the command tag ROLLBACK. */
function watchEnd (connection: unknown): Ending | null {
  if (!isPg(connection)) return null
  const wire = connection.connection
  let tag = ''
  const note = ({ text }: { text: string }): void => { if (text === 'COMMIT' || text === 'ROLLBACK') tag = text }
  wire.on('commandComplete', note)
  return { committed: () => tag === 'COMMIT', stop: () => { wire.off('commandComplete', note) } }
}

/** Has a connection of pg send in one packet what it is given in this turn of the event loop. */
export function gather (connection: unknown): void {
  if (!isPg(connection)) return
  const { stream } = connection.connection
  stream.cork()
  setImmediate(() => stream.uncork())
}

/** The `pg` package. */
export const pgDriver: Driver = {
  async run (connection, text, values, prepare = false) {
    if (!isPg(connection)) throw new TypeError('not a connection of pg')
    return (await connection.query({ name: prepare ? nameOf(text) : undefined, text, values, types: textOnly })).rows
  },
  // PostgreSQL answers one after the other.
  keepOrder () {},
  watchEnd,
  // They go with the connection.
  forgetStatements () {}
}
