import { useEffect, useRef, useState } from 'preact/hooks'
import type { Feed, LoggedEvent } from '../api/types.ts'
import { Alert } from '../parts/feedback.tsx'
import { navigate, replaceQuery, hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { EventFilters, type EventQuery, readEventQuery, writeEventQuery } from './filters.tsx'
import { EventTable } from './table.tsx'

interface Read { events: readonly LoggedEvent[], more: boolean }

/** The event log, the newest first, as its address narrows it. Older events are added to what is shown. */
export function EventsView ({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech()
  const { client, version, capabilities } = useSession()
  const wanted = readEventQuery(query)
  const key = writeEventQuery(wanted).toString()
  const [read, setRead] = useState<Read | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [round, setRound] = useState(0)
  const limit = Math.min(50, capabilities.pageSize.max)
  const latest = useRef(new AbortController())

  /** Loads what is older, or the newest. The load before is aborted: its events belong to another list. */
  async function load (from: Read | null): Promise<void> {
    latest.current.abort()
    const { signal } = latest.current = new AbortController()
    const last = from?.events[from.events.length - 1]
    const asked = new URLSearchParams({
      order: 'desc',
      limit: String(limit),
      ...wanted,
      ...(last !== undefined && { before: last.id })
    })
    try {
      const { body: { data, meta } } = await client.get<Feed>(`/events?${asked.toString()}`, { signal })
      if (signal.aborted) return
      setRead({ events: [...from?.events ?? [], ...data], more: meta.more })
      setError(null)
    } catch (error) {
      if (!signal.aborted) setError(error)
    }
  }

  useEffect(() => {
    setRead(null)
    load(null)
    return () => latest.current.abort()
  }, [key, version, round])

  const onQuery = (next: EventQuery, isTyped: boolean): void => {
    const written = writeEventQuery(next)
    if (isTyped) replaceQuery(written)
    else navigate(hrefOf(['events'], written))
  }
  return (
    <>
      <div class='tools'>
        <span class='space' />
        <button type='button' onClick={() => setRound(round + 1)}>{say('events.newer')}</button>
      </div>
      <EventFilters query={wanted} error={error} onQuery={onQuery} />
      {error !== null && (
        <div class='failed'>
          <Alert error={error} />
          {read === null && <button type='button' onClick={() => load(null)}>{say('page.retry')}</button>}
        </div>
      )}
      {read === null && error === null && <p class='hint' role='status'>{say('page.loading')}</p>}
      {read !== null && read.events.length === 0 && <p class='empty'>{say('events.none')}</p>}
      {read !== null && read.events.length > 0 && (
        <div>
          <EventTable label={say('events.list')} events={read.events} />
          <p role='status'>{read.more ? '' : say('events.end')}</p>
          {read.more && <button type='button' onClick={() => load(read)}>{say('events.more')}</button>}
        </div>
      )}
    </>
  )
}
