import type { Delivery, Json, User } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { WhenLoaded } from '../parts/feedback.tsx'
import { save } from '../parts/save.ts'
import { Table } from '../parts/table.tsx'
import { useLoad } from '../state/load.ts'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { DeliveryStatus } from '../webhooks/status.tsx'

/** All that is stored of a person, as `GET /users/{id}/subject` has it. */
interface Subject {
  user: Json
  events: Json[]
  deliveries: Array<Delivery & { webhook: { id: string, origin: string } }>
}

/** All that is stored of a person: to whom it was sent, and the whole as a file (GDPR, article 15). */
export function StoredData ({ user: { id, name }, onClose }: { user: User, onClose: () => void }) {
  const { say } = useSpeech()
  const { client, can, capabilities } = useSession()
  const loaded = useLoad(id, async (signal) => (await client.get<Subject>(`/users/${id}/subject`, { signal })).body)
  const isLinked = capabilities.offers.webhooks && can('webhooks:read')
  return (
    <Dialog title={say('subject.title', { name })} look='wide' onClose={onClose}>
      <WhenLoaded loaded={loaded}>
        {(subject) => (
          <>
            <p>{say('subject.help', { events: subject.events.length, deliveries: subject.deliveries.length })}</p>
            {subject.deliveries.length > 0 && (
              <Table
                label={say('hooks.deliveries')}
                rows={subject.deliveries}
                rowKey={(delivery) => delivery.id}
                columns={[
                  {
                    key: 'url',
                    label: say('hooks.url'),
                    heading: say('hooks.url'),
                    cell: ({ webhook }) => isLinked
                      ? <a href={hrefOf(['webhooks', webhook.id])}><bdi>{webhook.origin}</bdi></a>
                      : <bdi>{webhook.origin}</bdi>
                  },
                  { key: 'type', label: say('events.type'), heading: say('events.type'), cell: ({ type }) => type },
                  {
                    key: 'status',
                    label: say('hooks.status'),
                    heading: say('hooks.status'),
                    cell: (delivery) => <DeliveryStatus delivery={delivery} />
                  },
                  {
                    key: 'createdAt',
                    label: say('events.time'),
                    heading: say('events.time'),
                    cell: ({ createdAt }) => <Ago moment={createdAt} />
                  }
                ]}
              />
            )}
            <div class='bar'>
              <button
                type='button'
                class='primary'
                onClick={() => {
                  const blob = new Blob([JSON.stringify(subject, null, 2)], { type: 'application/json' })
                  save(blob, `${id}.json`)
                }}
              >
                {say('subject.save')}
              </button>
              <button type='button' onClick={onClose}>{say('page.close')}</button>
            </div>
          </>
        )}
      </WhenLoaded>
    </Dialog>
  )
}
