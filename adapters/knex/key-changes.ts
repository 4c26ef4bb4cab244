import type { Dialect } from './dialect.ts'
import type { Names } from './names.ts'
import { dropRoutine, inSchema } from './routines.ts'

const CHANNEL = 'fastify_users_api_keys'
const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 30_000

/** Makes the trigger that tells of every change of an API key, whoever makes it; not of uses. Only PostgreSQL can tell another process. */
export function keyChangesUp ({ name }: Dialect, names: Names): string[] {
  if (name !== 'postgres') return []
  const { apiKeys, own } = names
  const trigger = own('api_keys_changed')
  return inSchema(names, [
    `CREATE FUNCTION @${trigger}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN PERFORM pg_catalog.pg_notify('${CHANNEL}', TG_TABLE_SCHEMA); RETURN NULL; END $body$`,
    `CREATE TRIGGER ${trigger} AFTER INSERT OR UPDATE OF id, start, digest, scopes, expires_at, revoked_at OR DELETE OR TRUNCATE ON ${apiKeys} FOR EACH STATEMENT EXECUTE FUNCTION @${trigger}()`
  ])
}

/** The way back. */
export function keyChangesDown ({ name }: Dialect, names: Names): string[] {
  const { apiKeys, own } = names
  return name === 'postgres' ? [`DROP TRIGGER IF EXISTS ${own('api_keys_changed')} ON ${apiKeys}`, dropRoutine(names, 'api_keys_changed', '')] : []
}

/** What is used of a client of pg; its types are not named here, since who has no PostgreSQL need not have them. */
export interface Listening {
  connect (): Promise<unknown>
  query (text: string): Promise<unknown>
  end (): Promise<void>
  on (event: 'error' | 'end', listener: () => void): unknown
  on (event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
}

/** Tells of changes of API keys in a database. */
export interface KeyWatch {
  /** Calls the listener after each change, and whenever one may have been missed. The answer takes the listener off again. */
  watch (listener: () => void): () => void
  close (): Promise<void>
}

/**
 * Listens on a connection of its own (LISTEN holds one), opened with the first listener. Where it can't be had, or is lost, it is tried again, at first soon: what
 * was missed meanwhile is told as one change. `schema`: whose changes count; null: those of the whole database.
 */
export function watchKeyChanges (connect: () => Listening, schema: string | null): KeyWatch {
  const listeners = new Set<() => void>()
  let stop: (() => Promise<void>) | null = null
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let closed = false

  const tell = (): void => { for (const listener of listeners) listener() }

  function open (): void {
    const client = connect()
    let lost = false
    let listening = false

    function lose (): void {
      if (lost) return
      lost = true
      client.end().catch(() => {})
      stop = null
      tell()
      timer = setTimeout(open, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures++)).unref()
    }

    stop = async () => {
      stop = null
      lost = true
      const ended = client.end().catch(() => {})
      // One that is still being made may take as long as it likes to give up.
      if (listening) await ended
    }
    client.on('error', lose)
    client.on('end', lose)
    // The channel is the database's, and the payload says in which schema a key has changed.
    client.on('notification', ({ payload }) => { if (schema === null || payload === schema) tell() })
    client.connect().then(() => client.query(`LISTEN ${CHANNEL}`)).then(() => {
      listening = true
      failures = 0
      // What was remembered until now may be old.
      tell()
    }, lose)
  }

  async function pause (): Promise<void> {
    clearTimeout(timer)
    await stop?.()
  }

  return {
    watch (listener) {
      // Each call is a subscription of its own, also of one function.
      const own = () => listener()
      if (listeners.size === 0 && !closed) open()
      listeners.add(own)
      return () => {
        listeners.delete(own)
        if (listeners.size === 0) pause().catch(() => {})
      }
    },
    close () {
      closed = true
      return pause()
    }
  }
}
