import { useState } from 'preact/hooks'
import { ClientError } from '../../client/error.ts'
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
  /** `isKept`: it can be restored. */
  onDeleted: (isKept: boolean) => void
  /** The user has another version than the person has seen. */
  onChanged: () => void
  /** The user is deleted already, and is to be deleted for good. */
  isFinal?: boolean
}

/**
 * A text as far as everybody can type it: without case and accents. Spaces can't be counted by looking at them, nor can
 * their kinds be told apart.
 */
const plain = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim()

/** Deletes a user. Before one is gone for good, the person has to type who it is. */
export function DeleteDialog ({ user, etag, onClose, onDeleted, onChanged, isFinal = false }: DeleteDialogProps) {
  const { say } = useSpeech()
  const { client, capabilities } = useSession()
  const [typed, setTyped] = useState('')
  const [erases, setErases] = useState(false)
  const [fault, setFault] = useState<string>()
  const { error, isBusy, run } = useAction()
  const { events, trash } = capabilities.offers
  const query = erases ? '?erase=true' : isFinal ? '?purge=true' : ''
  const isKept = trash && query === ''

  const submit = (event: Event): void => {
    event.preventDefault()
    if (!isKept && ![user.name, user.email].some((text) => plain(typed) === plain(text))) {
      setFault(say('user.nameDiffers'))
      return
    }
    run(async () => {
      try {
        await client.send('DELETE', `/users/${user.id}${query}`, { headers: { 'if-match': etag ?? '*' } })
      } catch (error) {
        if (!(error instanceof ClientError) || (error.statusCode !== 412 && error.statusCode !== 404)) throw error
        if (error.statusCode === 412) {
          onChanged()
          return
        }
      }
      onDeleted(isKept)
    })
  }

  return (
    <Dialog title={say('user.deleteTitle', { name: user.name })} onClose={onClose}>
      <form noValidate onSubmit={submit}>
        <p>{say(isKept ? 'user.deleteKept' : 'user.deleteWarning')}</p>
        {!isKept && (
          <TextField
            label={say('user.typeName', { name: user.name })}
            hint={say('user.typeEmail', { email: user.email })}
            value={typed}
            fault={fault}
            onValue={(value) => {
              setTyped(value)
              setFault(undefined)
            }}
          />
        )}
        {events && <Checkbox label={say('user.erase')} checked={erases} onChecked={setErases} />}
        <Alert error={error} />
        <div class='bar'>
          <button type='submit' class='danger' disabled={isBusy}>{say('user.deleteSubmit')}</button>
          <button type='button' autofocus={isKept} onClick={onClose}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
