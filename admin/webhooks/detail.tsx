import { useState } from 'preact/hooks'
import type { Delivery, NewWebhook, Webhook } from '../api/types.ts'
import { fromLocal } from '../form/moments.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Alert, Needs, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { TextField } from '../parts/field.tsx'
import { Menu } from '../parts/menu.tsx'
import { Overlap, USUAL_OVERLAP } from '../parts/overlap.tsx'
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
import { sayResult, WebhookStatus } from './status.tsx'

type Open = 'edit' | 'delete' | 'disable' | 'replay' | 'rotate'

function Replay ({ webhook, onClose }: { webhook: Webhook, onClose: () => void }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  const [since, setSince] = useState('')
  const [fault, setFault] = useState<string>()
  const replay = async (): Promise<void> => {
    setFault(since === '' ? say('fault.required') : undefined)
    if (since === '') return
    await client.send('POST', `/webhooks/${webhook.id}/replay`, { body: { since: fromLocal(since) } })
    notify(say('hooks.replayed'))
    onClose()
  }
  return (
    <Confirm title={say('hooks.replay')} submit={say('hooks.replay')} run={replay} onClose={onClose}>
      <TextField
        label={say('hooks.replaySince')}
        type='datetime-local'
        isRequired
        value={since}
        fault={fault}
        onValue={setSince}
      />
    </Confirm>
  )
}

interface RotateProps { webhook: Webhook, onSecret: (secret: string) => void, onClose: () => void }

function RotateSecret ({ webhook, onSecret, onClose }: RotateProps) {
  const { say } = useSpeech()
  const { client } = useSession()
  const [overlap, setOverlap] = useState(USUAL_OVERLAP)
  const rotate = async (): Promise<void> => {
    const path = `/webhooks/${webhook.id}/rotate-secret`
    onSecret((await client.send<NewWebhook>('POST', path, { body: { overlap } })).body.secret)
  }
  return (
    <Confirm title={say('hooks.rotate')} submit={say('hooks.rotate')} run={rotate} onClose={onClose}>
      <p>{say('hooks.rotateHelp')}</p>
      <Overlap label={say('hooks.overlap')} value={overlap} onValue={setOverlap} />
    </Confirm>
  )
}

/** What can be done with a webhook. */
function Actions ({ webhook, onChanged }: { webhook: Webhook, onChanged: () => void }) {
  const speech = useSpeech()
  const { say } = speech
  const { client } = useSession()
  const notify = useNotify()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const { error, isBusy, run } = useAction()
  const path = `/webhooks/${webhook.id}`
  const button = (text: string, onClick: () => void, kind = '') => (
    <button type='button' class={kind} disabled={isBusy} onClick={onClick}>{text}</button>
  )
  const turn = async (enabled: boolean): Promise<void> => {
    await client.send('PATCH', path, { body: { enabled } })
    onChanged()
  }
  const remove = async (): Promise<void> => {
    await client.send('DELETE', path)
    notify(say('hooks.deleted'), { isForNext: true })
    navigate(hrefOf(['webhooks']))
  }
  const test = (): Promise<void> => run(async () => {
    const { body: { attempts } } = await client.send<Delivery>('POST', `${path}/test`)
    notify(say('hooks.tested', { result: attempts[0] === undefined ? '' : sayResult(speech, attempts[0]) }))
    onChanged()
  })
  const close = (): void => setOpen(null)
  return (
    <>
      {button(say('hooks.test'), test)}
      {button(`${say('user.edit')}…`, () => setOpen('edit'))}
      <Menu label={say('page.actions')} side='end' hasActions>
        {button(`${say('hooks.replay')}…`, () => setOpen('replay'))}
        {button(`${say('hooks.rotate')}…`, () => setOpen('rotate'))}
        {webhook.enabled
          ? button(`${say('hooks.disable')}…`, () => setOpen('disable'))
          : button(say('hooks.enable'), () => run(() => turn(true)))}
        {button(`${say('hooks.delete')}…`, () => setOpen('delete'), 'danger')}
      </Menu>
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
      {open === 'delete' && (
        <Confirm title={say('hooks.deleteOf')} submit={say('hooks.delete')} isDanger run={remove} onClose={close}>
          <p><code>{webhook.url}</code></p>
          <p>{say('hooks.deleteHelp')}</p>
        </Confirm>
      )}
      {open === 'disable' && (
        <Confirm
          title={say('hooks.disableOf')}
          submit={say('hooks.disable')}
          isDanger
          run={async () => {
            await turn(false)
            close()
          }}
          onClose={close}
        >
          <p>{say('hooks.disableHelp')}</p>
        </Confirm>
      )}
      {open === 'replay' && <Replay webhook={webhook} onClose={close} />}
      {open === 'rotate' && (
        <RotateSecret
          webhook={webhook}
          onSecret={(secret) => {
            close()
            setSecret(secret)
          }}
          onClose={close}
        />
      )}
      {open === 'edit' && (
        <WebhookForm
          webhook={webhook}
          onClose={(isDone) => {
            close()
            if (isDone) onChanged()
          }}
        />
      )}
    </>
  )
}

/** One webhook and its deliveries. */
export function WebhookDetail ({ id }: { id: string }) {
  const { client } = useSession()
  const loaded = useLoad(id, async (signal) =>
    (await client.get<Webhook>(`/webhooks/${encodeURIComponent(id)}`, { signal })).body)
  const [round, setRound] = useState(0)
  const webhook = loaded.value
  useName(webhook?.url)
  if (webhook === null) return <WhenLoaded loaded={loaded}>{() => null}</WhenLoaded>
  return (
    <>
      <div class='tools person'>
        <span class='space' />
        <Needs scope='webhooks:write'>
          <Actions
            webhook={webhook}
            onChanged={() => {
              loaded.reload()
              setRound((round) => round + 1)
            }}
          />
        </Needs>
      </div>
      <p class='facts'>
        <WebhookStatus webhook={webhook} />
        {webhook.description !== undefined && <bdi>{webhook.description}</bdi>}
        <span><Types types={webhook.types} /></span>
      </p>
      <WhenLoaded loaded={loaded}>{() => null}</WhenLoaded>
      <section class='card'>
        <Deliveries key={round} webhook={webhook} onSettled={() => loaded.reload()} />
      </section>
    </>
  )
}
