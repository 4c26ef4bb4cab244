import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ClientError } from '../../client/error.ts'
import type { Answer } from '../api/client.ts'
import { isObject, type Fault, type JsonObject, type User } from '../api/types.ts'
import { changedMembers, type Draft, draftOf, editedValue, isSameDraft, rebased } from '../form/draft.ts'
import { FieldsForm, formFaults } from '../form/fields-form.tsx'
import { isSame, patchBetween } from '../form/merge-patch.ts'
import { Alert, useAction } from '../parts/feedback.tsx'
import { useNotify } from '../state/notices.ts'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Conflict } from './conflict.tsx'
import { faultsOf } from './faults.ts'
import { editable, userSchema } from './schema.ts'
import { TakenBy } from './taken-by.tsx'

interface EditUserProps {
  stored: Answer<User>
  /** Called with the user as it is stored after a change. */
  onStored: (stored: Answer<User>) => void
  /** Called when there is nothing left to edit: saved, or given up. */
  onDone: () => void
}

/** Copies one member from another object, or removes it if that object lacks it. */
function withMember (value: JsonObject, name: string, source: JsonObject): JsonObject {
  const { [name]: before, ...others } = value
  const own = source[name]
  return own === undefined ? others : { ...others, [name]: own }
}

/** The form for a user that exists. What somebody else changes meanwhile is never overwritten unseen. */
export function EditUser ({ stored, onStored, onDone }: EditUserProps) {
  const speech = useSpeech()
  const { say } = speech
  const { client, capabilities, can } = useSession()
  const notify = useNotify()
  const schema = userSchema(capabilities, speech)
  // What the person began with: another version that is loaded meanwhile does not take its place.
  const [base, setBase] = useState(stored)
  const before = editable(schema, base.body)
  const begun = draftOf(schema, before, true)
  const [draft, setDraft] = useState<Draft>(begun)
  const latest = useRef(draft)
  latest.current = draft
  const form = useRef<HTMLFormElement>(null)
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const [theirs, setTheirs] = useState<Answer<User> | null>(null)
  const { error, isBusy, run } = useAction()
  const isUnchanged = isSameDraft(draft, begun)
  useGuard(() => isUnchanged)
  useEffect(() => {
    if (isUnchanged) show(stored)
  }, [stored])

  /** Shows a user; what was typed after `sent` stays. */
  function show (answer: Answer<User>, sent: Draft = draft): void {
    setBase(answer)
    setDraft((now) => rebased(sent, now, draftOf(schema, editable(schema, answer.body), true)))
    setFaults([])
  }

  /**
   * Sends the changes from `from` to the wanted user. Returns `null` if only a full replacement would do and the person
   * declined it.
   */
  async function change (from: Answer<User>, wanted: JsonObject): Promise<Answer<User> | null> {
    const headers = { 'if-match': from.etag ?? '*' }
    const path = `/users/${base.body.id}`
    const patch = patchBetween(editable(schema, from.body), wanted)
    if (patch !== undefined) return client.send<User>('PATCH', path, { body: patch, headers })
    if (!confirm(say('user.replace'))) return null
    // A replacement without a status would make the user active.
    const { status, statusReason } = from.body
    return client.send<User>('PUT', path, { body: { ...wanted, status, statusReason }, headers })
  }

  async function save (from: Answer<User>, wanted: JsonObject): Promise<void> {
    try {
      const answer = await change(from, wanted)
      if (answer === null) return
      // Whoever has signed in again with a key that may not read users gets no more than the version.
      const after = can('users:read') ? answer : { ...answer, body: { ...wanted, ...answer.body } }
      setTheirs(null)
      show(after)
      onStored(after)
      notify(say('user.saved'))
      if (isSameDraft(latest.current, draft)) onDone()
    } catch (error) {
      setFaults(faultsOf(error))
      if (!(error instanceof ClientError) || error.statusCode !== 412) {
        setTheirs(null)
        throw error
      }
      setTheirs(await client.get<User>(`/users/${base.body.id}`))
    }
  }

  const edited = editedValue(begun, draft, before)
  const wanted = isObject(edited) ? edited : {}
  const submit = (event: { preventDefault: () => void, currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const wrong = formFaults(event.currentTarget, draft, speech)
    setFaults(wrong)
    if (wrong.length > 0) return
    if (isSame(before, wanted)) notify(say('user.unchanged'))
    else run(() => save(base, wanted))
  }

  const choose = (answer: Answer<User>, kept: readonly string[]): void => {
    if (kept.length > 0) {
      const theirs = editable(schema, answer.body)
      run(() => save(answer, kept.reduce((chosen, name) => withMember(chosen, name, wanted), theirs)))
      return
    }
    setTheirs(null)
    show(answer)
    onStored(answer)
    onDone()
  }
  // Before anything can be typed: later, it would take the focus from where the person types.
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), [])

  return (
    <form ref={form} noValidate onSubmit={submit}>
      <FieldsForm draft={draft} faults={faults} onDraft={setDraft} />
      <div class='save'>
        <TakenBy faults={faults} sent={wanted} />
        <Alert error={error} />
        <div class='bar'>
          <span role='status'>{!isUnchanged && say('user.changes', { count: changedMembers(begun, draft) })}</span>
          <button type='submit' class='primary' disabled={isBusy}>{say('user.save')}</button>
          <button type='button' onClick={onDone}>{say(isUnchanged ? 'page.cancel' : 'user.discard')}</button>
        </div>
      </div>
      {theirs !== null && (
        <Conflict
          key={theirs.etag}
          schema={schema}
          before={before}
          yours={wanted}
          theirs={theirs.body}
          id={base.body.id}
          isBusy={isBusy}
          onClose={() => setTheirs(null)}
          onChosen={(kept) => choose(theirs, kept)}
        />
      )}
    </form>
  )
}
