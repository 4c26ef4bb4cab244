import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import type { User } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'

const CONCURRENT = 4

interface Failure { user: User, error: unknown }
interface Progress { deleted: readonly User[], failed: readonly Failure[], isDone: boolean }

interface BulkDeleteProps {
  users: readonly User[]
  /** Called with those that are deleted. */
  onClose: (deleted: readonly User[]) => void
}

/** Deletes many users, one request each, after the person has typed how many. */
export function BulkDelete ({ users, onClose }: BulkDeleteProps) {
  const { say, sayError, number } = useSpeech()
  const { client, capabilities } = useSession()
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState<string>()
  const [progress, setProgress] = useState<Progress | null>(null)
  const controller = useRef(new AbortController())

  async function start (): Promise<void> {
    const { signal } = controller.current
    const waiting = [...users]
    const deleted: User[] = []
    const failed: Failure[] = []
    const show = (isDone: boolean): void => setProgress({ deleted: [...deleted], failed: [...failed], isDone })
    const worker = async (): Promise<void> => {
      for (let user = waiting.shift(); user !== undefined && !signal.aborted; user = waiting.shift()) {
        try {
          // Whatever version it has: the person has asked for it to go.
          await client.send('DELETE', `/users/${user.id}`, { signal, headers: { 'if-match': '*' }, isPatient: true })
          deleted.push(user)
        } catch (error) {
          if (signal.aborted) return
          if (error instanceof ApiError && error.status === 404) deleted.push(user)
          else failed.push({ user, error })
          // The others would fail too.
          if (error instanceof ApiError && [0, 401, 403, 429].includes(error.status)) waiting.length = 0
        }
        show(false)
      }
    }
    show(false)
    await Promise.all(Array.from({ length: CONCURRENT }, worker))
    show(true)
  }

  const submit = (event: Event): void => {
    event.preventDefault()
    const count = typed.trim()
    if (count === String(users.length) || count === number(users.length)) start()
    else setFault(say('bulk.countDiffers'))
  }
  const close = (): void => {
    controller.current.abort()
    onClose(progress?.deleted ?? [])
  }
  const done = (progress?.deleted.length ?? 0) + (progress?.failed.length ?? 0)

  return (
    <Dialog title={say('bulk.title', { count: users.length })} onClose={close}>
      {progress === null && (
        <form noValidate onSubmit={submit}>
          <p>{say(capabilities.offers.trash ? 'user.deleteKept' : 'user.deleteWarning')}</p>
          <TextField
            label={say('bulk.typeCount', { count: users.length })}
            inputMode='numeric'
            value={typed}
            fault={fault}
            onValue={setTyped}
          />
          <div class='bar'>
            <button type='submit' class='danger'>{say('user.deleteSubmit')}</button>
            <button type='button' onClick={close}>{say('page.cancel')}</button>
          </div>
        </form>
      )}
      {progress !== null && (
        <>
          <progress value={done} max={users.length} aria-label={say('bulk.progress', { done, count: users.length })} />
          <p role='status'>
            {progress.isDone
              ? say('bulk.result', {
                deleted: progress.deleted.length,
                failed: progress.failed.length,
                left: users.length - done
              })
              : say('bulk.progress', { done, count: users.length })}
          </p>
          {progress.failed.length > 0 && (
            <>
              <h3>{say('bulk.failed')}</h3>
              <ul>
                {progress.failed.map(({ user, error }) => (
                  <li key={user.id}><bdi>{user.name}</bdi>: {sayError(error)}</li>
                ))}
              </ul>
            </>
          )}
          <button type='button' onClick={close}>{say(progress.isDone ? 'page.close' : 'bulk.stop')}</button>
        </>
      )}
    </Dialog>
  )
}
