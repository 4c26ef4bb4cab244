import { useEffect, useRef, useState } from 'preact/hooks'
import type { Feed, LoggedEvent } from '../api/types.ts'
import { Alert } from '../parts/feedback.tsx'
import { navigate, replaceQuery, hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { EventFilters, type EventQuery, readEventQuery, writeEventQuery } from './filters.tsx'
import { useLive } from './live.ts'
import { EventTable } from './table.tsx'

interface Read {
  events: readonly LoggedEvent[]
  more: boolean
  /** What comes after this is in none of the pages; undefined: the log was empty. */
  position: string | undefined
}

/** How many rows live events may add up to. */
const MOST_ROWS = 500

/** With a live event at the top. What was shown for longest makes room for it. */
function withNewest (read: Read, event: LoggedEvent): Read {
  const { events, more } = read
  const kept = [event, ...events].slice(0, Math.max(MOST_ROWS, events.length))
  return { ...read, events: kept, more: more || kept.length <= events.length }
}

/** Whether new events come by themselves. `missed`: how many have come since the person has paused them. */
function Following ({ isLive, missed }: { isLive: boolean, missed: number | null }) {
  const { say } = useSpeech()
  if (missed !== null) {
    return <span class='badge soon'>{missed === 0 ? say('events.paused') : say('events.came', { count: missed })}</span>
  }
  return <span class={isLive ? 'dot' : 'badge'}>{say(isLive ? 'events.live' : 'events.connecting')}</span>
}

/** The name of whom an id stands for, as the events that are shown have it. */
function nameIn (events: readonly LoggedEvent[], role: 'subject' | 'actor', id?: string): string | undefined {
  for (const { data, actor } of events) {
    if (role === 'actor' && actor !== null && actor.id === id && actor.name !== null) return actor.name
    if (role === 'subject' && data['id'] === id && typeof data['name'] === 'string') return data['name']
  }
  return undefined
}

/**
 * The event log, the newest first, as its address narrows it. Older events are added to what is shown, and so are new
 * ones, unless the person wants to read in peace.
 */
export function EventsView ({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech()
  const { client, version, capabilities } = useSession()
  const wanted = readEventQuery(query)
  const key = writeEventQuery(wanted).toString()
  const [read, setRead] = useState<Read | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [round, setRound] = useState(0)
  const [isPaused, setPaused] = useState(false)
  const [missed, setMissed] = useState(0)
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
      // Others may have come while these were read.
      setRead((now) => from === null || now === null
        ? { events: data, more: meta.more, position: meta.position }
        : { ...now, events: [...now.events, ...data], more: meta.more })
      setError(null)
    } catch (error) {
      if (!signal.aborted) setError(error)
    }
  }

  useEffect(() => {
    setRead(null)
    setMissed(0)
    load(null)
    return () => latest.current.abort()
  }, [key, version, round])

  const reload = (): void => setRound((round) => round + 1)
  const canFollow = wanted.until === undefined
  const isLive = useLive({
    query: wanted,
    after: read === null || !canFollow ? null : read.position,
    onEvent (event) {
      if (isPaused) setMissed((missed) => missed + 1)
      else setRead((read) => read && withNewest(read, event))
    },
    onGap: reload
  })
  const toggle = (): void => {
    if (isPaused && missed > 0) reload()
    setPaused(!isPaused)
  }

  const nameOf = (role: 'subject' | 'actor') => read === null ? undefined : nameIn(read.events, role, wanted[role])
  const onQuery = (next: EventQuery, isTyped: boolean): void => {
    const written = writeEventQuery(next)
    if (isTyped) replaceQuery(written)
    else navigate(hrefOf(['events'], written))
  }
  return (
    <>
      <div class='tools'>
        <span class='space' />
        {canFollow && (
          <>
            <p role='status'>{read !== null && <Following isLive={isLive} missed={isPaused ? missed : null} />}</p>
            <button type='button' onClick={toggle}>{say(isPaused ? 'events.resume' : 'events.pause')}</button>
          </>
        )}
      </div>
      <EventFilters
        query={wanted}
        names={{ subject: nameOf('subject'), actor: nameOf('actor') }}
        shown={read?.events ?? []}
        error={error}
        onQuery={onQuery}
      />
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
