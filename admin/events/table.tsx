import type { LoggedEvent } from '../api/types.ts'
import { Time } from '../parts/feedback.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Changes } from './changes.tsx'

interface EventTableProps {
  label: string
  events: readonly LoggedEvent[]
  /** False where all are of one user. */
  hasSubject?: boolean
}

function Subject ({ event: { type, data } }: { event: LoggedEvent }) {
  const id = String(data['id'])
  const name = typeof data['name'] === 'string' ? data['name'] : id
  return type.startsWith('user.') && type !== 'user.deleted'
    ? <a href={hrefOf(['users', id])}><bdi>{name}</bdi></a>
    : <bdi>{name}</bdi>
}

/** Events, one a row. */
export function EventTable ({ label, events, hasSubject = true }: EventTableProps) {
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
        column('time', ({ timestamp }) => <Time moment={timestamp} />),
        column('type', ({ type }) => <code>{type}</code>),
        ...hasSubject && offers.tenants
          ? [column('tenant', ({ tenant }) => tenant !== undefined && <code>{tenant}</code>)]
          : [],
        ...hasSubject ? [column('subject', (event) => <Subject event={event} />)] : [],
        column('actor', ({ actor }) => actor === null ? say('events.server') : <code>{actor.id}</code>),
        column('changes', (event) => <Changes event={event} />)
      ]}
    />
  )
}
