import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ClientError } from '../../client/error.ts'
import type { Fault } from '../api/types.ts'
import { formFaults } from '../form/fields-form.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { useNotify } from '../state/notices.ts'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { type Change, changeMany, type Progress, type Selected } from './bulk.ts'
import { FieldChooser, firstChange, patchOf } from './bulk-field.tsx'

export type BulkKind = 'delete' | 'restore' | 'suspend' | 'activate' | 'change'

interface BulkDialogProps {
  kind: BulkKind
  users: readonly Selected[]
  /** True if it takes back what was just done: it begins without a question. */
  isUndo?: boolean
  /** Called with those that were changed, and those that somebody else has changed meanwhile. */
  onClose: (done: readonly Selected[], meanwhile: readonly Selected[]) => void
  /** Called with users who were changed, and with what takes that back. */
  onUndo?: (kind: BulkKind, users: readonly Selected[]) => void
}

/** What is said of one user, by name. */
const DONE = {
  delete: 'user.deleted',
  restore: 'deleted.restored',
  suspend: 'user.suspended',
  activate: 'user.activated',
  change: 'user.changed'
} as const
/** What is asked about one user, by name. */
const TITLES = {
  delete: 'user.deleteTitle',
  restore: 'deleted.restoreTitle',
  suspend: 'user.suspendTitle',
  activate: 'user.activateTitle'
} as const
const NOTHING: Progress = { done: [], refused: [] }
/** From as many users on, their number is typed before what can't be undone together. */
const COUNTED = 50

/** True if somebody else has changed the user since it was selected. */
const isLate = (error: unknown): boolean => error instanceof ClientError && error.statusCode === 412

/**
 * Changes many users after a question. A suspension asks for its reason, and the change of a field for its value. The
 * number of many users, or of those who are deleted for good, is typed; otherwise a deletion begins at Cancel.
 */
export function BulkDialog ({ kind, users, isUndo = false, onClose, onUndo }: BulkDialogProps) {
  const speech = useSpeech()
  const { say, sayError, number } = speech
  const notify = useNotify()
  const { client, capabilities } = useSession()
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const { properties } = capabilities.fields
  const [change, setChange] = useState(() => firstChange(properties))
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const [phase, setPhase] = useState<'asks' | 'runs' | 'stops' | 'ended'>(isUndo ? 'runs' : 'asks')
  const [progress, setProgress] = useState(NOTHING)
  const controller = useRef(new AbortController())
  const count = users.length
  const { done } = progress
  const refused = progress.refused.filter(({ error }) => !isLate(error))
  const meanwhile = progress.refused.filter(({ error }) => isLate(error)).map(({ user }) => user)
  const tried = done.length + progress.refused.length
  const { trash } = capabilities.offers
  const isReversible = kind === 'restore' || kind === 'activate'
  const isCounted = (kind === 'delete' && !trash) || (!isReversible && count >= COUNTED)
  const content = useRef<HTMLDivElement>(null)
  // What had the focus is gone with the question.
  useLayoutEffect(() => {
    if (phase === 'runs') content.current?.querySelector('p')?.focus()
    if (phase === 'ended') content.current?.querySelector('button')?.focus()
  }, [phase])
  useGuard(() => phase === 'asks' || phase === 'ended', say('bulk.leave'))

  const changeOf = (): Change => {
    if (kind === 'delete' || kind === 'restore') return { op: kind }
    if (kind === 'change') return { op: 'update', body: change === null ? {} : patchOf(change) }
    const statusReason = reason.trim() === '' ? null : reason
    return { op: 'update', body: { status: kind === 'suspend' ? 'suspended' : 'active', statusReason } }
  }
  const submit = (event: { preventDefault: () => void, currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    if (kind === 'change' && change !== null) {
      const wrong = formFaults(event.currentTarget, change.draft, speech)
      setFaults(wrong)
      if (wrong.length > 0) return
    }
    if (isCounted && ![String(count), number(count)].includes(typed.trim())) {
      setFault(say('bulk.countDiffers'))
      return
    }
    begin()
  }
  const begin = (): void => {
    setPhase('runs')
    let last = NOTHING
    const onProgress = (now: Progress): void => {
      last = now
      setProgress(now)
    }
    changeMany(client, users, changeOf(), { signal: controller.current.signal, onProgress }).finally(() => {
      if (last.done.length === count) succeed(last.done)
      else setPhase('ended')
    })
  }
  const succeed = (done: readonly Selected[]): void => {
    onClose(done, [])
    const [first] = done
    const text = count === 1 && first !== undefined
      ? say(DONE[kind], { name: first.name })
      : say(`bulk.${kind}.ended`, { count })
    const back = kind === 'suspend' ? 'activate' : kind === 'delete' && trash ? 'restore' : null
    notify(text, back === null || onUndo === undefined
      ? {}
      : { action: { label: say('page.undo'), run: () => onUndo(back, done) } })
  }
  // The step that is under way ends first: its outcome would not be known otherwise.
  const close = (): void => {
    if (phase === 'asks' || phase === 'ended') return onClose(done, meanwhile)
    controller.current.abort()
    setPhase('stops')
  }

  useEffect(() => { if (isUndo) begin() }, [])

  const [first] = users
  const single = kind === 'change' || count !== 1 || first === undefined ? null : first.name
  const title = phase === 'asks'
    ? single === null || kind === 'change' ? say(`bulk.${kind}.asks`, { count }) : say(TITLES[kind], { name: single })
    : phase === 'ended' ? say(`bulk.${kind}.ended`, { count: done.length }) : say(`bulk.${kind}.runs`, { count })
  const help = kind === 'delete'
    ? say(trash ? 'user.deleteKept' : 'user.deleteWarning')
    : kind === 'suspend' ? say('user.suspendHelp') : kind === 'change' ? say('bulk.changeHelp') : ''
  return (
    <Dialog title={title} onClose={close}>
      {phase === 'asks'
        ? (
          <form noValidate onSubmit={submit}>
            {help !== '' && <p>{help}</p>}
            {isCounted && (
              <TextField
                label={say('bulk.typeCount', { count })}
                inputMode='numeric'
                value={typed}
                fault={fault}
                onValue={setTyped}
              />
            )}
            {kind === 'suspend' && (
              <TextField label={say('user.reason')} hint={say('user.reasonHelp')} value={reason} onValue={setReason} />
            )}
            {kind === 'change' && change !== null && (
              <FieldChooser properties={properties} change={change} faults={faults} onChange={setChange} />
            )}
            <div class='bar'>
              <button type='submit' class={kind === 'delete' || kind === 'suspend' ? 'danger' : 'primary'}>
                {say(`bulk.${kind}`)}
              </button>
              <button type='button' autofocus={kind === 'delete' && !isCounted} onClick={close}>
                {say('page.cancel')}
              </button>
            </div>
          </form>
          )
        : (
          <div ref={content}>
            <progress value={tried} max={count} aria-label={say('bulk.progress', { done: tried, count })} />
            <p role='status' tabIndex={-1}>
              {phase === 'ended'
                ? say('bulk.result', { done: done.length, refused: progress.refused.length, left: count - tried })
                : say('bulk.progress', { done: tried, count })}
            </p>
            {meanwhile.length > 0 && (
              <>
                <h3>{say('bulk.meanwhile')}</h3>
                <ul class='refused'>
                  {meanwhile.map(({ id, name }) => <li key={id}><bdi>{name}</bdi></li>)}
                </ul>
              </>
            )}
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
          </div>
          )}
    </Dialog>
  )
}
