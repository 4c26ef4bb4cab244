import { KEY_CHANGES_CHANNEL } from '../tables/names.ts'

const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 30_000

/** The used part of a client of pg. Its types are not named here: a host without PostgreSQL need not have them. */
export interface ListeningClient {
  connect (): Promise<unknown>
  query (text: string): Promise<unknown>
  end (): Promise<void>
  on (event: 'error' | 'end', listener: () => void): unknown
  on (event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
}

/** Reports changes of API keys in a database. */
export interface KeyChangeListener {
  /**
   * Calls the listener after each change, and whenever one may have been missed. Returns a function that removes it.
   */
  watch (listener: () => void): () => void
  close (): Promise<void>
}

/**
 * Listens on a connection of its own (LISTEN occupies one), opened with the first listener. If the connection fails or
 * is lost, it is opened again with increasing pauses, and what was missed is reported as one change. `schema`: whose
 * changes count; null: those of the whole database.
 */
export function listenForKeyChanges (connect: () => ListeningClient, schema: string | null): KeyChangeListener {
  const listeners = new Set<() => void>()
  let stop: (() => Promise<void>) | null = null
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let closed = false

  const report = (): void => { for (const listener of listeners) listener() }

  function open (): void {
    const client = connect()
    let lost = false
    let listening = false

    function onLost (): void {
      if (lost) return
      lost = true
      client.end().catch(() => {})
      stop = null
      report()
      timer = setTimeout(open, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures++)).unref()
    }

    stop = async () => {
      stop = null
      lost = true
      const ended = client.end().catch(() => {})
      // A connection that is still being opened may take long to give up.
      if (listening) await ended
    }
    client.on('error', onLost)
    client.on('end', onLost)
    // The channel is the database's, and the payload names the schema in which a key has changed.
    client.on('notification', ({ payload }) => { if (schema === null || payload === schema) report() })
    client.connect().then(() => client.query(`LISTEN ${KEY_CHANGES_CHANNEL}`)).then(() => {
      listening = true
      failures = 0
      // What was cached until now may be old.
      report()
    }, onLost)
  }

  async function pause (): Promise<void> {
    clearTimeout(timer)
    await stop?.()
  }

  return {
    watch (listener) {
      // Each call is a subscription of its own, of the same function too.
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
