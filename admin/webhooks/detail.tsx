import { useState } from 'preact/hooks'
import type { Delivery, NewWebhook, Webhook } from '../api/types.ts'
import { fromLocal } from '../form/moments.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, Needs, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { TextField } from '../parts/field.tsx'
import { SecretDialog } from '../parts/secret.tsx'
import { useLoad } from '../state/load.ts'
import { useName } from '../state/name.ts'
import { useNotify } from '../state/notices.ts'
import { hrefOf, useNavigate } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Deliveries } from './deliveries.tsx'
import { WebhookForm } from './form.tsx'
import { Types } from './list.tsx'
import { resultOf, WebhookStatus } from './status.tsx'

type Open = 'edit' | 'delete' | 'replay'

function DeleteWebhook ({ webhook, onClose }: { webhook: Webhook, onClose: () => void }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  const navigate = useNavigate()
  const { error, isBusy, run } = useAction()
  return (
    <Dialog title={say('hooks.deleteOf')} onClose={onClose}>
      <p><code>{webhook.url}</code></p>
      <p>{say('hooks.deleteHelp')}</p>
      <Alert error={error} />
      <div class='bar'>
        <button
          type='button'
          class='danger'
          disabled={isBusy}
          onClick={() => run(async () => {
            await client.send('DELETE', `/webhooks/${webhook.id}`)
            notify(say('hooks.deleted'))
            navigate(hrefOf(['webhooks']))
          })}
        >
          {say('hooks.delete')}
        </button>
        <button type='button' onClick={onClose}>{say('page.cancel')}</button>
      </div>
    </Dialog>
  )
}

function Replay ({ webhook, onClose }: { webhook: Webhook, onClose: () => void }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  const [since, setSince] = useState('')
  const { error, isBusy, run } = useAction()
  return (
    <Dialog title={say('hooks.replay')} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          run(async () => {
            await client.send('POST', `/webhooks/${webhook.id}/replay`, { body: { since: fromLocal(since) } })
            notify(say('hooks.replayed'))
            onClose()
          })
        }}
      >
        <TextField label={say('hooks.replaySince')} type='datetime-local' isRequired value={since} onValue={setSince} />
        <Alert error={error} />
        <div class='bar'>
          <button type='submit' class='primary' disabled={isBusy || since === ''}>{say('hooks.replay')}</button>
          <button type='button' onClick={onClose}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}

/** What can be done with a webhook. */
function Actions ({ webhook, onChanged }: { webhook: Webhook, onChanged: () => void }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  const [open, setOpen] = useState<Open | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const { error, isBusy, run } = useAction()
  const path = `/webhooks/${webhook.id}`
  const button = (text: string, onClick: () => void, kind = '') => (
    <button type='button' class={kind} disabled={isBusy} onClick={onClick}>{text}</button>
  )
  const toggle = (): Promise<void> => run(async () => {
    await client.send('PATCH', path, { body: { enabled: !webhook.enabled } })
    onChanged()
  })
  const test = (): Promise<void> => run(async () => {
    const { body: { attempts } } = await client.send<Delivery>('POST', `${path}/test`)
    notify(say('hooks.tested', { result: attempts[0] === undefined ? '' : resultOf(attempts[0]) }))
    onChanged()
  })
  const rotate = (): Promise<void> => run(async () => {
    setSecret((await client.send<NewWebhook>('POST', `${path}/rotate-secret`, { body: {} })).body.secret)
  })
  return (
    <>
      <div class='bar'>
        {button(`${say('user.edit')}…`, () => setOpen('edit'))}
        {button(say(webhook.enabled ? 'hooks.disable' : 'hooks.enable'), toggle)}
        {button(say('hooks.test'), test)}
        {button(`${say('hooks.replay')}…`, () => setOpen('replay'))}
        {button(say('hooks.rotate'), rotate)}
        {button(`${say('hooks.delete')}…`, () => setOpen('delete'), 'danger')}
      </div>
      <Alert error={error} />
      {secret !== null && (
        <SecretDialog
          title={say('hooks.rotate')}
          label='hooks.secret'
          help='hooks.secretOnce'
          text={secret}
          onClose={() => setSecret(null)}
        />
      )}
      {open === 'delete' && <DeleteWebhook webhook={webhook} onClose={() => setOpen(null)} />}
      {open === 'replay' && <Replay webhook={webhook} onClose={() => setOpen(null)} />}
      {open === 'edit' && (
        <WebhookForm
          webhook={webhook}
          onClose={(isDone) => {
            setOpen(null)
            if (isDone) onChanged()
          }}
        />
      )}
    </>
  )
}

/** One webhook and its deliveries. */
export function WebhookDetail ({ id }: { id: string }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const loaded = useLoad(id, async (signal) =>
    (await client.get<Webhook>(`/webhooks/${encodeURIComponent(id)}`, { signal })).body)
  const [round, setRound] = useState(0)
  useName(loaded.value?.url)
  return (
    <WhenLoaded loaded={loaded}>
      {(webhook) => (
        <>
          <section class='card'>
            <p><bdi>{webhook.description}</bdi></p>
            <p><WebhookStatus webhook={webhook} /> <Types types={webhook.types} /></p>
            <Needs scope='webhooks:write'>
              <Actions
                webhook={webhook}
                onChanged={() => {
                  loaded.reload()
                  setRound((round) => round + 1)
                }}
              />
            </Needs>
          </section>
          <section class='card'>
            <h2>{say('hooks.deliveries')}</h2>
            <Deliveries key={round} id={webhook.id} />
          </section>
        </>
      )}
    </WhenLoaded>
  )
}
