import { useState } from 'preact/hooks'
import type { Answer } from '../api/client.ts'
import { ClientError } from '../../client/error.ts'
import type { Fault, User } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { TextField } from '../parts/field.tsx'
import { useNotify } from '../state/notices.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from './faults.ts'

/** Whether a user is let in, in a colour and in words; the reason as a tooltip. */
export function Status ({ user: { status, statusReason } }: { user: User }) {
  const { say } = useSpeech()
  const isActive = status === 'active'
  return (
    <span class={isActive ? 'dot' : 'badge soon'} {...(statusReason !== null && { title: statusReason })}>
      {say(isActive ? 'users.active' : 'users.suspended')}
    </span>
  )
}

interface StatusDialogProps {
  stored: Answer<User>
  onClose: () => void
  /** Called with the user as it is stored after the change. */
  onStored: (stored: Answer<User>) => void
  /** The user has another version than the person has seen. */
  onChanged: () => void
}

/** Suspends a user, or activates it, with a reason. */
export function StatusDialog ({ stored: { body: user, etag }, onClose, onStored, onChanged }: StatusDialogProps) {
  const { say, sayError, sayFault } = useSpeech()
  const { client, can } = useSession()
  const notify = useNotify()
  const [reason, setReason] = useState('')
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const { error, isBusy, run } = useAction()
  const suspends = user.status === 'active'
  const word = say(suspends ? 'user.suspend' : 'user.activate')
  const [fault] = faults

  const submit = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      const change = {
        status: suspends ? 'suspended' : 'active',
        statusReason: reason.trim() === '' ? null : reason
      } as const
      try {
        const headers = { 'if-match': etag ?? '*' }
        const answer = await client.send<User>('PATCH', `/users/${user.id}`, { body: change, headers })
        onClose()
        // A key that may not read users gets no more than the version.
        onStored(can('users:read') ? answer : { ...answer, body: { ...user, ...change, ...answer.body } })
        const undo = async (): Promise<void> => {
          const back = { status: user.status, statusReason: user.statusReason }
          try {
            onStored(await client.send<User>(
              'PATCH', `/users/${user.id}`, { body: back, headers: { 'if-match': answer.etag ?? '*' } }
            ))
            notify(say(suspends ? 'user.activated' : 'user.suspended', { name: user.name }))
          } catch (error) {
            notify(sayError(error))
          }
        }
        notify(say(suspends ? 'user.suspended' : 'user.activated', { name: user.name }), {
          ...(can('users:read') && { action: { label: say('page.undo'), run: undo } })
        })
      } catch (error) {
        setFaults(faultsOf(error))
        if (!(error instanceof ClientError) || error.statusCode !== 412) throw error
        onClose()
        onChanged()
      }
    })
  }

  return (
    <Dialog
      title={say(suspends ? 'user.suspendTitle' : 'user.activateTitle', { name: user.name })}
      onClose={onClose}
    >
      <form noValidate onSubmit={submit}>
        {suspends && <p>{say('user.suspendHelp')}</p>}
        <TextField
          label={say('user.reason')}
          hint={say('user.reasonHelp')}
          value={reason}
          fault={fault && sayFault(fault)}
          onValue={setReason}
        />
        <Alert error={error} />
        <div class='bar'>
          <button type='submit' class={suspends ? 'danger' : 'primary'} disabled={isBusy}>{word}</button>
          <button type='button' onClick={onClose}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
