import { useState } from 'preact/hooks'
import type { ApiKey, NewApiKey } from '../api/types.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Checkbox } from '../parts/field.tsx'
import { Overlap, USUAL_OVERLAP } from '../parts/overlap.tsx'
import { SecretDialog } from '../parts/secret.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from '../users/faults.ts'
import { AS_BEFORE, expiryOf, Lifetime } from './lifetime.tsx'

interface DialogProps {
  apiKey: ApiKey
  onClose: (isDone: boolean) => void
}

/** Replaces a key: the new text is shown once, and the old one goes on for a while. */
export function RotateKey ({ apiKey, onClose }: DialogProps) {
  const { say, sayFault } = useSpeech()
  const { client, capabilities: { caller } } = useSession()
  const [lifetime, setLifetime] = useState(AS_BEFORE)
  const [overlap, setOverlap] = useState(USUAL_OVERLAP)
  const [made, setMade] = useState<NewApiKey | null>(null)
  const { error, isBusy, run } = useAction()
  const submit = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      const body = { overlap, ...expiryOf(lifetime, caller) }
      setMade((await client.send<NewApiKey>('POST', `/api-keys/${apiKey.id}/rotate`, { body })).body)
    })
  }
  const fault = faultsOf(error).find(({ pointer }) => pointer?.startsWith('/expires') === true)
  const title = say('keys.rotateOf', { name: apiKey.name })
  if (made !== null) {
    return (
      <SecretDialog title={title} label='keys.text' help='keys.once' text={made.key} onClose={() => onClose(true)} />
    )
  }
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <form onSubmit={submit}>
        <p>{say('keys.rotateHelp')}</p>
        <Lifetime isRotation value={lifetime} fault={fault && sayFault(fault)} onValue={setLifetime} />
        <Overlap label={say('keys.overlap')} value={overlap} onValue={setOverlap} />
        <Alert error={error} />
        <div class='bar'>
          <button type='submit' class='primary' autofocus disabled={isBusy}>{say('keys.rotate')}</button>
          <button type='button' onClick={() => onClose(false)}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}

/** Ends a key for ever, after a question. */
export function RevokeKey ({ apiKey, onClose }: DialogProps) {
  const { say } = useSpeech()
  const { client, capabilities: { caller } } = useSession()
  const [successors, setSuccessors] = useState(false)
  return (
    <Confirm
      title={say('keys.revokeOf', { name: apiKey.name })}
      submit={say('keys.revoke')}
      isDanger
      run={async () => {
        await client.send('DELETE', `/api-keys/${apiKey.id}${successors ? '?successors=true' : ''}`)
        onClose(true)
      }}
      onClose={() => onClose(false)}
    >
      <p>{say('keys.revokeHelp')}</p>
      <Checkbox label={say('keys.revokeSuccessors')} checked={successors} onChecked={setSuccessors} />
      {apiKey.id === caller.id && <p class='alert'>{say('keys.revokeOwn')}</p>}
    </Confirm>
  )
}
