import { useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import type { User } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Checkbox, TextField } from '../parts/field.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'

interface DeleteDialogProps {
  user: User
  etag: string | null
  onClose: () => void
  onDeleted: () => void
  /** The user has another version than the person has seen. */
  onChanged: () => void
  /** The user is deleted already, and is to be deleted for good. */
  isFinal?: boolean
}

// Spaces can't be counted by looking at them, nor can their kinds be told apart.
const plain = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim()

/** Deletes a user, after the person has typed the name. */
export function DeleteDialog ({ user, etag, onClose, onDeleted, onChanged, isFinal = false }: DeleteDialogProps) {
  const { say } = useSpeech()
  const { client, capabilities } = useSession()
  const [typed, setTyped] = useState('')
  const [erases, setErases] = useState(false)
  const [fault, setFault] = useState<string>()
  const { error, isBusy, run } = useAction()
  const { events, trash } = capabilities.offers
  const query = erases ? '?erase=true' : isFinal ? '?purge=true' : ''

  const submit = (event: Event): void => {
    event.preventDefault()
    if (plain(typed) !== plain(user.name)) {
      setFault(say('user.nameDiffers'))
      return
    }
    run(async () => {
      try {
        await client.send('DELETE', `/users/${user.id}${query}`, { headers: { 'if-match': etag ?? '*' } })
      } catch (error) {
        if (!(error instanceof ApiError) || (error.status !== 412 && error.status !== 404)) throw error
        if (error.status === 412) {
          onChanged()
          return
        }
      }
      onDeleted()
    })
  }

  return (
    <Dialog title={say('user.deleteTitle', { name: user.name })} onClose={onClose}>
      <form noValidate onSubmit={submit}>
        <p>{say(trash && query === '' ? 'user.deleteKept' : 'user.deleteWarning')}</p>
        <TextField
          label={say('user.typeName', { name: user.name })}
          value={typed}
          fault={fault}
          onValue={(value) => {
            setTyped(value)
            setFault(undefined)
          }}
        />
        {events && <Checkbox label={say('user.erase')} checked={erases} onChecked={setErases} />}
        <Alert error={error} />
        <div class='bar'>
          <button type='submit' class='danger' disabled={isBusy}>{say('user.deleteSubmit')}</button>
          <button type='button' onClick={onClose}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
