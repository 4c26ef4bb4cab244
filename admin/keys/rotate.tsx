import { useState } from 'preact/hooks'
import type { ApiKey, NewApiKey } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Checkbox } from '../parts/field.tsx'
import { Overlap, USUAL_OVERLAP } from '../parts/overlap.tsx'
import { SecretDialog } from '../parts/secret.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'

interface DialogProps {
  apiKey: ApiKey
  onClose: (isDone: boolean) => void
}

/** Replaces a key: the new text is shown once, and the old one goes on for a while. */
export function RotateKey ({ apiKey, onClose }: DialogProps) {
  const { say } = useSpeech()
  const { client } = useSession()
  const [overlap, setOverlap] = useState(USUAL_OVERLAP)
  const [made, setMade] = useState<NewApiKey | null>(null)
  const { error, isBusy, run } = useAction()
  const submit = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      const body = { overlap }
      setMade((await client.send<NewApiKey>('POST', `/api-keys/${apiKey.id}/rotate`, { body })).body)
    })
  }
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
  const { error, isBusy, run } = useAction()
  return (
    <Dialog title={say('keys.revokeOf', { name: apiKey.name })} onClose={() => onClose(false)}>
      <p>{say('keys.revokeHelp')}</p>
      <Checkbox label={say('keys.revokeSuccessors')} checked={successors} onChecked={setSuccessors} />
      {apiKey.id === caller.id && <p class='alert'>{say('keys.revokeOwn')}</p>}
      <Alert error={error} />
      <div class='bar'>
        <button
          type='button'
          class='danger'
          disabled={isBusy}
          onClick={() => run(async () => {
            await client.send('DELETE', `/api-keys/${apiKey.id}${successors ? '?successors=true' : ''}`)
            onClose(true)
          })}
        >
          {say('keys.revoke')}
        </button>
        <button type='button' onClick={() => onClose(false)}>{say('page.cancel')}</button>
      </div>
    </Dialog>
  )
}
