import type { Delivery } from '../api/types.ts'
import { Alert, Time, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { Table } from '../parts/table.tsx'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { sayAttempt } from './status.tsx'

const BADGES = { pending: 'soon', succeeded: 'on', failed: 'off' }

/** What was sent to a webhook, with every attempt. */
export function Deliveries ({ id }: { id: string }) {
  const speech = useSpeech()
  const { say } = speech
  const { client, can } = useSession()
  const notify = useNotify()
  const { loaded, pager } = usePages<Delivery>(`/webhooks/${id}/deliveries`)
  const { error, isBusy, run } = useAction()
  const retry = (delivery: Delivery): void => {
    run(async () => {
      await client.send('POST', `/webhooks/${id}/deliveries/${delivery.id}/retry`)
      notify(say('hooks.retried'))
      loaded.reload()
    })
  }
  const named = (key: 'event' | 'status' | 'attempts' | 'next') =>
    ({ key, label: say(`hooks.${key}`), heading: say(`hooks.${key}`) })
  return (
    <>
      <Alert error={error} />
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p>{say('hooks.noDeliveries')}</p>
          : (
            <>
              <Table
                label={say('hooks.deliveries')}
                rows={data}
                rowKey={(delivery) => delivery.id}
                columns={[
                  {
                    ...named('event'),
                    cell: ({ type, event }) => <><code>{type}</code> <span class='muted'>{event}</span></>
                  },
                  {
                    ...named('status'),
                    cell: ({ status }) => <span class={`badge ${BADGES[status]}`}>{say(`hooks.${status}`)}</span>
                  },
                  {
                    ...named('attempts'),
                    cell: ({ attempts }) => (
                      <ul class='changes'>
                        {attempts.map((attempt) => <li key={attempt.at}>{sayAttempt(speech, attempt)}</li>)}
                      </ul>
                    )
                  },
                  {
                    ...named('next'),
                    cell: ({ nextAttemptAt }) => nextAttemptAt === undefined ? '' : <Time moment={nextAttemptAt} />
                  },
                  ...can('webhooks:write')
                    ? [{
                        key: 'actions',
                        label: say('page.actions'),
                        heading: <span class='visually-hidden'>{say('page.actions')}</span>,
                        cell: (delivery: Delivery) => (
                          <button type='button' class='small' disabled={isBusy} onClick={() => retry(delivery)}>
                            {say('hooks.retry')}<span class='visually-hidden'>: {delivery.event}</span>
                          </button>
                        )
                      }]
                    : []
                ]}
              />
              <Pager {...pager} total={total} />
            </>
            )}
      </WhenLoaded>
    </>
  )
}
