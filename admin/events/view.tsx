import { useEffect, useRef, useState } from 'preact/hooks'
import type { Feed, LoggedEvent } from '../api/types.ts'
import { Alert } from '../parts/feedback.tsx'
import { SelectField } from '../parts/field.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { EventTable } from './table.tsx'

const FILTERS = [
  'user.*', 'user.created', 'user.updated', 'user.suspended', 'user.activated', 'user.deleted', 'user.restored',
  'user.purged', 'api_key.*', 'webhook.*'
]

interface Read { events: readonly LoggedEvent[], more: boolean }

/** The event log, in the order of commits. More is added to what is shown. */
export function EventsView () {
  const { say } = useSpeech()
  const { client, version, capabilities } = useSession()
  const [type, setType] = useState('')
  const [read, setRead] = useState<Read | null>(null)
  const [error, setError] = useState<unknown>(null)
  const limit = Math.min(50, capabilities.pageSize.max)
  const latest = useRef(new AbortController())

  /** Loads what follows, or from the beginning. The load before is aborted: its events belong to another list. */
  async function load (from: Read | null): Promise<void> {
    latest.current.abort()
    const { signal } = latest.current = new AbortController()
    const last = from?.events[from.events.length - 1]
    const query = new URLSearchParams({
      limit: String(limit),
      ...(type !== '' && { type }),
      ...(last !== undefined && { after: last.id })
    })
    try {
      const { body: { data, meta } } = await client.get<Feed>(`/events?${query.toString()}`, { signal })
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
  }, [type, version])

  return (
    <>
      <div class='filters'>
        <SelectField
          label={say('events.type')}
          value={type}
          options={[['', say('events.any')], ...FILTERS.map((each) => [each, each] as const)]}
          onValue={setType}
        />
      </div>
      {error !== null && (
        <div class='failed'>
          <Alert error={error} />
          {read === null && <button type='button' onClick={() => load(null)}>{say('page.retry')}</button>}
        </div>
      )}
      {read === null && error === null && <p class='hint' role='status'>{say('page.loading')}</p>}
      {read !== null && read.events.length === 0 && <p>{say('events.none')}</p>}
      {read !== null && read.events.length > 0 && (
        <>
          <EventTable label={say('events.list')} events={read.events} />
          <p role='status'>{read.more ? '' : say('events.end')}</p>
          <button type='button' onClick={() => load(read)}>{say('events.more')}</button>
        </>
      )}
    </>
  )
}
