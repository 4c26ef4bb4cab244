import type { Actor, LoggedEvent } from '../api/types.ts'
import { keyHref } from '../keys/detail.tsx'
import { Time } from '../parts/feedback.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Changes } from './changes.tsx'

interface EventTableProps {
  label: string
  events: readonly LoggedEvent[]
}

/** Who made a change: its name then, or its id where it had none. */
export function ActorName ({ actor }: { actor: Actor | null }) {
  const { say } = useSpeech()
  if (actor === null) return <>{say('events.server')}</>
  return actor.name === null ? <code>{actor.id}</code> : <bdi title={actor.id}>{actor.name}</bdi>
}

/** The events of whoever made a change. */
function ActorLink ({ actor }: { actor: Actor | null }) {
  if (actor === null) return <ActorName actor={actor} />
  return (
    <a class='name' href={hrefOf(['events'], new URLSearchParams({ actor: actor.id }))}><ActorName actor={actor} /></a>
  )
}

const GONE = ['user.deleted', 'user.purged']

/** What an event calls its subject. */
export function subjectName ({ data }: LoggedEvent): string {
  return [data['name'], data['url']].find((each) => typeof each === 'string') ?? String(data['id'])
}

/** Whom or what an event is about. */
export function Subject ({ event }: { event: LoggedEvent }) {
  const { type, data } = event
  const id = String(data['id'])
  // Of those who are gone there are events alone.
  const href = GONE.includes(type)
    ? hrefOf(['events'], new URLSearchParams({ subject: id }))
    : type.startsWith('user.')
      ? hrefOf(['users', id])
      : type.startsWith('webhook.') ? hrefOf(['webhooks', id]) : keyHref(id)
  return <a class='name' href={href} title={id}><bdi>{subjectName(event)}</bdi></a>
}

/** Events, one a row. */
export function EventTable ({ label, events }: EventTableProps) {
  const { say } = useSpeech()
  const { capabilities: { offers } } = useSession()
  const column = (
    key: 'time' | 'type' | 'tenant' | 'subject' | 'actor' | 'changes',
    cell: Column<LoggedEvent>['cell']
  ) =>
    ({ key, label: say(`events.${key}`), heading: say(`events.${key}`), cell })
  return (
    <Table
      label={label}
      rows={events}
      rowKey={({ id }) => id}
      columns={[
        column('time', ({ timestamp }) => <Time moment={timestamp} isExact />),
        column('type', ({ type }) => <code>{type}</code>),
        ...offers.tenants
          ? [column('tenant', ({ tenant }) => tenant !== undefined && <code>{tenant}</code>)]
          : [],
        column('subject', (event) => <Subject event={event} />),
        column('actor', ({ actor }) => <ActorLink actor={actor} />),
        column('changes', (event) => <Changes event={event} />)
      ]}
    />
  )
}
