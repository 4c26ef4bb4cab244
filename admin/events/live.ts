import { useEffect, useRef, useState } from 'preact/hooks'
import { ClientError } from '../../client/error.ts'
import { follow, streamed } from '../../client/events.ts'
import type { LoggedEvent } from '../api/types.ts'
import { useSession } from '../state/session.ts'

interface LiveOptions {
  /** The parameters that narrow the log. */
  query: Readonly<Record<string, string>>
  /** The position to begin after; undefined: at the beginning of the log; null: do not follow. */
  after: string | undefined | null
  onEvent: (event: LoggedEvent) => void
  /** Events between what is shown and now are gone from the log. */
  onGap: () => void
}

/**
 * Follows the log by its stream, and says whether it is connected. A tab in the background does not: a browser has few
 * connections to one server. It goes on where it was when somebody looks at it again.
 */
export function useLive ({ query, after, onEvent, onGap }: LiveOptions): boolean {
  const { client, version } = useSession()
  const [isLive, setLive] = useState(false)
  const latest = useRef({ onEvent, onGap })
  latest.current = { onEvent, onGap }
  const narrowed = new URLSearchParams(query).toString()

  useEffect(() => {
    if (after === null) return
    let place = after
    let connection = new AbortController()

    async function read (signal: AbortSignal): Promise<void> {
      const onConnection = (isOpen: boolean): void => { if (!signal.aborted) setLive(isOpen) }
      const asked = { ...query, signal, onPosition: (position: string) => { place = position } }
      try {
        for await (const event of follow(streamed(client.transport, onConnection), place ?? null, asked)) {
          if (!signal.aborted) latest.current.onEvent(event)
        }
      } catch (error) {
        if (error instanceof ClientError && error.statusCode === 410) latest.current.onGap()
      }
    }

    const connect = (): void => {
      connection.abort()
      connection = new AbortController()
      if (!document.hidden) read(connection.signal)
    }
    connect()
    document.addEventListener('visibilitychange', connect)
    return () => {
      document.removeEventListener('visibilitychange', connect)
      connection.abort()
      setLive(false)
    }
  }, [client, version, narrowed, after])
  return isLive
}
