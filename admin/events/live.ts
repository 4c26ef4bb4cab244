import { useEffect, useRef, useState } from 'preact/hooks'
import { wait } from '../api/client.ts'
import { ApiError } from '../api/error.ts'
import type { LoggedEvent } from '../api/types.ts'
import { useSession } from '../state/session.ts'
import { readMessages } from './stream.ts'

/** How long a stream that has ended waits before it is opened again, at most. */
const LONGEST_PAUSE = 30
/** What asking again does not change. */
const FINAL = [400, 401, 403, 404, 406, 410]

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
      const asked = new URLSearchParams(narrowed)
      if (place !== undefined) asked.set('after', place)
      const headers = { accept: 'text/event-stream' }
      const bytes = await client.stream(`/events?${asked.toString()}`, { signal, headers })
      setLive(true)
      for await (const { id, event } of readMessages(bytes)) {
        place = id ?? place
        if (event !== undefined && !signal.aborted) latest.current.onEvent(event)
      }
    }

    async function follow (signal: AbortSignal): Promise<void> {
      for (let pause = 1; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
        let seconds = pause
        try {
          await read(signal)
          seconds = pause = 1
        } catch (error) {
          if (signal.aborted) return
          if (error instanceof ApiError) {
            if (error.status === 410) latest.current.onGap()
            if (FINAL.includes(error.status)) break
            seconds = Math.max(pause, error.retryAfter ?? 0)
          }
        }
        if (!signal.aborted) setLive(false)
        await wait(seconds, signal).catch(() => {})
      }
      if (!signal.aborted) setLive(false)
    }

    const connect = (): void => {
      connection.abort()
      connection = new AbortController()
      if (!document.hidden) follow(connection.signal)
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
