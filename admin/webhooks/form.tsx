import { useState } from 'preact/hooks'
import type { Fault, NewWebhook, Webhook } from '../api/types.ts'
import { TYPES } from '../events/filters.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Checkbox, TextField } from '../parts/field.tsx'
import { SecretDialog } from '../parts/secret.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from '../users/faults.ts'

interface WebhookFormProps {
  /** Absent: a new one. */
  webhook?: Webhook
  onClose: (isDone: boolean) => void
}

/** A form for a webhook; for a new one then its secret, once. */
export function WebhookForm ({ webhook, onClose }: WebhookFormProps) {
  const { say, sayFault } = useSpeech()
  const { client } = useSession()
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [types, setTypes] = useState<readonly string[]>(webhook?.types ?? [])
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [made, setMade] = useState<NewWebhook | null>(null)
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const { error, isBusy, run } = useAction()
  const title = webhook === undefined ? say('hooks.new') : webhook.url
  const faultAt = (pointer: string, value?: string): string | undefined => {
    const fault = faults.find((each) => each.pointer?.startsWith(pointer) === true)
    return fault && sayFault(fault, value)
  }

  const submit = (event: Event): void => {
    event.preventDefault()
    setFaults([])
    run(async () => {
      const body = { url: url.trim(), types: [...types], description: description === '' ? null : description }
      try {
        if (webhook === undefined) setMade((await client.send<NewWebhook>('POST', '/webhooks', { body })).body)
        else {
          await client.send('PATCH', `/webhooks/${webhook.id}`, { body })
          onClose(true)
        }
      } catch (error) {
        setFaults(faultsOf(error))
        throw error
      }
    })
  }

  if (made !== null) {
    return (
      <SecretDialog
        title={title}
        label='hooks.secret'
        help='hooks.secretOnce'
        text={made.secret}
        onClose={() => onClose(true)}
      />
    )
  }
  const choices = [...new Set([...TYPES, ...types])]
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <form noValidate onSubmit={submit}>
        <Alert error={error} />
        <TextField
          label={say('hooks.url')}
          type='url'
          dir='ltr'
          isRequired
          value={url}
          fault={faultAt('/url', url)}
          onValue={setUrl}
        />
        <fieldset>
          <legend>{say('hooks.types')}</legend>
          <Checkbox label={say('hooks.all')} checked={types.length === 0} onChecked={() => setTypes([])} />
          <div class='grid'>
            {choices.map((type) => (
              <Checkbox
                key={type}
                label={<code>{type}</code>}
                checked={types.includes(type)}
                onChecked={(on) => setTypes(on ? [...types, type] : types.filter((each) => each !== type))}
              />
            ))}
          </div>
        </fieldset>
        <TextField
          label={say('hooks.description')}
          value={description}
          fault={faultAt('/description')}
          onValue={setDescription}
        />
        <div class='bar'>
          <button type='submit' class='primary' disabled={isBusy}>
            {say(webhook === undefined ? 'hooks.create' : 'hooks.save')}
          </button>
          <button type='button' onClick={() => onClose(false)}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
