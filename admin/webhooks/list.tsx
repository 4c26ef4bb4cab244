import { useState } from 'preact/hooks'
import type { Webhook } from '../api/types.ts'
import { Needs, WhenLoaded } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { Pager } from '../parts/pager.tsx'
import { Table } from '../parts/table.tsx'
import { usePages } from '../state/pages.ts'
import { hrefOf } from '../state/route.ts'
import { useSpeech } from '../state/texts.ts'
import { WebhookForm } from './form.tsx'
import { WebhookStatus } from './status.tsx'

/** The types of events that a webhook gets. */
export function Types ({ types }: { types: readonly string[] }) {
  const { say } = useSpeech()
  if (types.length === 0) return <>{say('hooks.all')}</>
  return <>{types.map((type) => <code key={type} class='scope'>{type}</code>)}</>
}

/** The webhooks. */
export function WebhookList () {
  const { say } = useSpeech()
  const { loaded, pager } = usePages<Webhook>('/webhooks')
  const [isOpen, setOpen] = useState(false)
  const named = (key: 'url' | 'status' | 'types' | 'description') =>
    ({ key, label: say(`hooks.${key}`), heading: say(`hooks.${key}`) })
  return (
    <>
      <div class='tools'>
        <span class='space' />
        <Needs scope='webhooks:write'>
          <button type='button' class='primary' onClick={() => setOpen(true)}>
            <Icon name='add' />{say('hooks.new')}
          </button>
        </Needs>
      </div>
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='empty'>{say('hooks.none')}</p>
          : (
            <>
              <Table
                label={say('hooks.list')}
                rows={data}
                rowKey={({ id }) => id}
                rowHref={({ id }) => hrefOf(['webhooks', id])}
                look='linked'
                columns={[
                  { ...named('url'), cell: ({ id, url }) => <a class='name' href={hrefOf(['webhooks', id])}>{url}</a> },
                  { ...named('status'), cell: (webhook) => <WebhookStatus webhook={webhook} /> },
                  { ...named('types'), cell: ({ types }) => <Types types={types} /> },
                  { ...named('description'), cell: ({ description }) => <bdi>{description}</bdi> }
                ]}
              />
              <Pager {...pager} total={total} />
            </>
            )}
      </WhenLoaded>
      {isOpen && (
        <WebhookForm
          onClose={(isDone) => {
            setOpen(false)
            if (isDone) loaded.reload()
          }}
        />
      )}
    </>
  )
}
