import { useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { type Change, changeMany, type Progress, type Selected } from './bulk.ts'

export type BulkKind = 'delete' | 'restore' | 'suspend' | 'activate'

interface BulkDialogProps {
  kind: BulkKind
  users: readonly Selected[]
  /** Called with those that were changed. */
  onClose: (done: readonly Selected[]) => void
}

const NOTHING: Progress = { done: [], refused: [] }

/** Changes many users after a question. A deletion asks for their number, a suspension for its reason. */
export function BulkDialog ({ kind, users, onClose }: BulkDialogProps) {
  const { say, sayError, number } = useSpeech()
  const { client, capabilities } = useSession()
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState<string>()
  const [phase, setPhase] = useState<'asks' | 'runs' | 'stops' | 'ended'>('asks')
  const [progress, setProgress] = useState(NOTHING)
  const controller = useRef(new AbortController())
  const count = users.length
  const { done, refused } = progress
  const tried = done.length + refused.length
  useGuard(() => phase === 'asks' || phase === 'ended', say('bulk.leave'))

  const changeOf = (): Change => {
    if (kind === 'delete' || kind === 'restore') return { op: kind }
    const statusReason = typed.trim() === '' ? null : typed
    return { op: 'update', body: { status: kind === 'suspend' ? 'suspended' : 'active', statusReason } }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    if (kind === 'delete' && ![String(count), number(count)].includes(typed.trim())) {
      setFault(say('bulk.countDiffers'))
      return
    }
    setPhase('runs')
    changeMany(client, users, changeOf(), { signal: controller.current.signal, onProgress: setProgress })
      .finally(() => setPhase('ended'))
  }
  // The step that is under way ends first: its outcome would not be known otherwise.
  const close = (): void => {
    if (phase === 'asks' || phase === 'ended') return onClose(done)
    controller.current.abort()
    setPhase('stops')
  }

  const title = phase === 'asks'
    ? say(`bulk.${kind}.asks`, { count })
    : phase === 'ended' ? say(`bulk.${kind}.ended`, { count: done.length }) : say(`bulk.${kind}.runs`, { count })
  const help = kind === 'delete'
    ? say(capabilities.offers.trash ? 'user.deleteKept' : 'user.deleteWarning')
    : kind === 'suspend' ? say('user.suspendHelp') : ''
  return (
    <Dialog title={title} onClose={close}>
      {phase === 'asks'
        ? (
          <form noValidate onSubmit={submit}>
            {help !== '' && <p>{help}</p>}
            {kind === 'delete' && (
              <TextField
                label={say('bulk.typeCount', { count })}
                inputMode='numeric'
                value={typed}
                fault={fault}
                onValue={setTyped}
              />
            )}
            {kind === 'suspend' && (
              <TextField label={say('user.reason')} hint={say('user.reasonHelp')} value={typed} onValue={setTyped} />
            )}
            <div class='bar'>
              <button type='submit' class={kind === 'delete' || kind === 'suspend' ? 'danger' : 'primary'}>
                {say(`bulk.${kind}`)}
              </button>
              <button type='button' onClick={close}>{say('page.cancel')}</button>
            </div>
          </form>
          )
        : (
          <>
            <progress value={tried} max={count} aria-label={say('bulk.progress', { done: tried, count })} />
            <p role='status'>
              {phase === 'ended'
                ? say('bulk.result', { done: done.length, refused: refused.length, left: count - tried })
                : say('bulk.progress', { done: tried, count })}
            </p>
            {refused.length > 0 && (
              <>
                <h3>{say('bulk.refused')}</h3>
                <ul class='refused'>
                  {refused.map(({ user, error }) => (
                    <li key={user.id}><bdi>{user.name}</bdi>: {sayError(error)}</li>
                  ))}
                </ul>
              </>
            )}
            <button type='button' disabled={phase === 'stops'} onClick={close}>
              {say(phase === 'ended' ? 'page.close' : 'bulk.stop')}
            </button>
          </>
          )}
    </Dialog>
  )
}
