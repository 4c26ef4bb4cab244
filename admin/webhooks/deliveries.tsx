import { useEffect, useRef, useState } from 'preact/hooks'
import type { Delivery, Webhook } from '../api/types.ts'
import { Subject } from '../events/table.tsx'
import { Ago } from '../parts/ago.tsx'
import { Alert, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useLoad } from '../state/load.ts'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { DeliveryDialog } from './delivery.tsx'
import { eventsOf } from './events.ts'
import { RetryAll } from './retry-all.tsx'
import { isOnItsWay, pauseAfter } from './retry.ts'
import { DeliveryStatus, sayResult } from './status.tsx'

/** What came of the last attempt, and how many there were. */
function LastAttempt ({ attempts }: { attempts: Delivery['attempts'] }) {
  const speech = useSpeech()
  const { say } = speech
  const last = attempts[attempts.length - 1]
  if (last === undefined) return null
  return (
    <>
      {say('hooks.result', { result: sayResult(speech, last), milliseconds: last.milliseconds })}
      <span class='muted'>
        {' · '}<Ago moment={last.at} />
        {attempts.length > 1 && <> · {say('hooks.tries', { count: attempts.length })}</>}
      </span>
    </>
  )
}

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
  const { loaded, pager } = usePages<Delivery>(path)
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
  const column = (key: 'event' | 'status' | 'last' | 'next', cell: Column<Delivery>['cell']): Column<Delivery> =>
    ({ key, label: say(`hooks.${key}`), heading: say(`hooks.${key}`), cell })
  const columns: Array<Column<Delivery>> = [
    column('event', ({ type, event: id }) => {
      const event = events?.get(id)
      const about = event === undefined ? <code class='muted'>{id}</code> : <Subject event={event} />
      return <><code>{type}</code> {about}</>
    }),
    column('status', (delivery) => <DeliveryStatus delivery={delivery} />),
    column('last', ({ attempts }) => <LastAttempt attempts={attempts} />),
    column('next', ({ nextAttemptAt }) => {
      if (nextAttemptAt === undefined) return ''
      return Date.parse(nextAttemptAt) > Date.now() ? <Ago moment={nextAttemptAt} /> : say('hooks.due')
    }),
    {
      key: 'actions',
      label: say('page.actions'),
      heading: <span class='visually-hidden'>{say('page.actions')}</span>,
      cell: (delivery) => (
        <span class='bar'>
          <button type='button' class='small' onClick={() => setOpen(delivery)}>
            {say('hooks.details')}<span class='visually-hidden'>: {delivery.event}</span>
          </button>
          {can('webhooks:write') && (
            <button type='button' class='small' disabled={isBusy} onClick={() => retry(delivery)}>
              {say('hooks.retry')}<span class='visually-hidden'>: {delivery.event}</span>
            </button>
          )}
        </span>
      )
    }
  ]
  return (
    <>
      <div class='bar'>
        <h2>{say('hooks.deliveries')}</h2>
        <span class='space' />
        {can('webhooks:write') && shown.length > 0 && (
          <button type='button' onClick={() => setOpen('all')}>{say('hooks.retryAll')}…</button>
        )}
      </div>
      <Alert error={error} />
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='empty'>{say('hooks.noDeliveries')}</p>
          : (
            <>
              <Table label={say('hooks.deliveries')} rows={data} rowKey={({ id }) => id} columns={columns} />
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
