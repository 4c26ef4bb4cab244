import { useEffect, useRef, useState } from 'preact/hooks'
import type { Delivery, Webhook } from '../api/types.ts'
import { Subject, subjectName } from '../events/table.tsx'
import { Alert, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { useLoad } from '../state/load.ts'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { DeliveryDialog } from './delivery.tsx'
import { eventsOf } from './events.ts'
import { RetryAll } from './retry-all.tsx'
import { isOnItsWay, pauseAfter } from './retry.ts'
import { DeliveryLine } from './status.tsx'

/** What deliveries are narrowed by. */
const TABS = ['', 'pending', 'failed', 'succeeded'] as const

interface DeliveriesProps {
  webhook: Webhook
  /** Called when something that was on its way has come to an end, after which the webhook may fail no longer. */
  onSettled: () => void
}

/** What was sent to a webhook, to whom it is about, and what came of it. What is on its way is read again. */
export function Deliveries ({ webhook, onSettled }: DeliveriesProps) {
  const { say } = useSpeech()
  const { client, can, capabilities: { offers, pageSize } } = useSession()
  const notify = useNotify()
  const [open, setOpen] = useState<Delivery | 'all' | null>(null)
  const path = `/webhooks/${webhook.id}/deliveries`
  const [tab, setTab] = useState<typeof TABS[number]>('')
  const { loaded, pager } = usePages<Delivery>(path, tab === '' ? {} : { filter: { status: tab } })
  const { error, isBusy, run } = useAction()
  const shown = loaded.value?.data ?? []
  const coming = webhook.enabled ? shown.filter(isOnItsWay).length : 0
  const before = useRef(0)
  const looks = useRef(0)
  useEffect(() => {
    if (loaded.value === null) return
    if (coming < before.current) onSettled()
    looks.current = coming === before.current ? looks.current + 1 : 0
    before.current = coming
    if (coming === 0) return
    const timer = setTimeout(loaded.reload, pauseAfter(looks.current))
    return () => clearTimeout(timer)
  }, [loaded.value])
  // Whose names can't be read is shown without them.
  const events = useLoad(shown.map(({ id }) => id).join(), async (signal) =>
    offers.events && can('events:read')
      ? await eventsOf(client, shown, { limit: pageSize.max, signal })
      : null).value
  const retry = (delivery: Delivery): void => {
    run(async () => {
      await client.send('POST', `${path}/${delivery.id}/retry`)
      notify(say('hooks.retried'))
      loaded.reload()
    })
  }
  const nameOf = ({ event: id }: Delivery): string => {
    const event = events?.get(id)
    return event === undefined ? id : subjectName(event)
  }
  const column = (key: 'event' | 'last', cell: Column<Delivery>['cell']): Column<Delivery> =>
    ({ key, label: say(`hooks.${key}`), heading: say(`hooks.${key}`), cell })
  const columns: Array<Column<Delivery>> = [
    column('event', ({ type, event: id }) => {
      const event = events?.get(id)
      const about = event === undefined ? <code class='muted'>{id}</code> : <Subject event={event} />
      return <><code>{type}</code> {about}</>
    }),
    column('last', (delivery) => <DeliveryLine delivery={delivery} />),
    actionsColumn<Delivery>(say('page.actions'), (delivery) => `${delivery.type} ${nameOf(delivery)}`, (delivery) => [
      { icon: 'details', label: `${say('hooks.details')}…`, run: () => setOpen(delivery) },
      ...can('webhooks:write')
        ? [{ icon: 'rotate', label: say('hooks.retry'), isOff: isBusy, run: () => retry(delivery) } as const]
        : []
    ])
  ]
  return (
    <>
      <div class='bar'>
        <h2>{say('hooks.deliveries')}</h2>
        <span class='space' />
        {can('webhooks:write') && (shown.length > 0 || tab !== '') && (
          <button type='button' onClick={() => setOpen('all')}>{say('hooks.retryAll')}…</button>
        )}
      </div>
      <div class='tabs' role='group' aria-label={say('hooks.deliveries')}>
        {TABS.map((each) => (
          <button key={each} type='button' aria-pressed={each === tab} onClick={() => setTab(each)}>
            {say(each === '' ? 'hooks.every' : `hooks.are.${each}`)}
          </button>
        ))}
      </div>
      <Alert error={error} />
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='empty'>{say(tab === '' ? 'hooks.noDeliveries' : 'hooks.noneSuch')}</p>
          : (
            <>
              <Table
                label={say('hooks.deliveries')}
                look='deliveries'
                rows={data}
                rowKey={({ id }) => id}
                columns={columns}
              />
              <Pager {...pager} total={total} />
            </>
            )}
      </WhenLoaded>
      {open === 'all' && (
        <RetryAll
          webhook={webhook}
          onClose={(isDone) => {
            setOpen(null)
            if (!isDone) return
            loaded.reload()
            onSettled()
          }}
        />
      )}
      {open !== null && open !== 'all' && <DeliveryDialog delivery={open} onClose={() => setOpen(null)} />}
    </>
  )
}
