import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import type { Answer } from '../api/client.ts'
import { isObject, type Fault, type Json, type JsonObject, type User } from '../api/types.ts'
import { type Draft, draftFaults, draftOf, patchOf } from '../form/draft.ts'
import { FieldsForm } from '../form/fields-form.tsx'
import { difference, merged } from '../form/merge-patch.ts'
import { focusHeading } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { RequiredNote } from '../parts/field.tsx'
import { useNotify } from '../state/notices.ts'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Conflict } from './conflict.tsx'
import { faultsOf } from './faults.ts'
import { userSchema } from './schema.ts'

interface EditUserProps {
  stored: Answer<User>
  /** Called with the user as it is stored after a change. */
  onStored: (stored: Answer<User>) => void
}

const membersOf = (value: Json): JsonObject => isObject(value) ? value : {}

/** The form for a user that exists. What somebody else changes meanwhile is never overwritten unseen. */
export function EditUser ({ stored, onStored }: EditUserProps) {
  const speech = useSpeech()
  const { say } = speech
  const { client, capabilities } = useSession()
  const notify = useNotify()
  const schema = userSchema(capabilities, speech)
  // What the person began with: another version that is loaded meanwhile does not take its place.
  const [base, setBase] = useState(stored)
  const begun = draftOf(schema, base.body)
  const [draft, setDraft] = useState<Draft>(begun)
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const [theirs, setTheirs] = useState<Answer<User> | null>(null)
  const { error, isBusy, run } = useAction()
  const isUnchanged = JSON.stringify(draft) === JSON.stringify(begun)
  useGuard(() => isUnchanged)
  useEffect(() => {
    if (isUnchanged) show(stored)
  }, [stored])

  function show (answer: Answer<User>): void {
    setBase(answer)
    setDraft(draftOf(schema, answer.body))
    setFaults([])
  }

  async function save (patch: Json, etag: string | null): Promise<void> {
    const path = `/users/${base.body.id}`
    try {
      const answer = await client.send<User>('PATCH', path, { body: patch, headers: { 'if-match': etag ?? '*' } })
      setTheirs(null)
      show(answer)
      onStored(answer)
      notify(say('user.saved'))
    } catch (error) {
      setFaults(faultsOf(error))
      if (!(error instanceof ApiError) || error.status !== 412) {
        setTheirs(null)
        throw error
      }
      setTheirs(await client.get<User>(path))
    }
  }

  const submit = (event: Event): void => {
    event.preventDefault()
    const wrong = draftFaults(schema, draft, say('user.notJson'))
    setFaults(wrong)
    if (wrong.length > 0) return
    const patch = patchOf(schema, begun, draft, true)
    if (patch === undefined) notify(say('user.unchanged'))
    else run(() => save(patch, base.etag))
  }

  const wanted = merged(base.body, patchOf(schema, begun, draft, true) ?? {})
  const choose = (answer: Answer<User>, kept: readonly string[]): void => {
    const mine = membersOf(wanted)
    const patch = Object.fromEntries(kept.map((name) => [name, difference(answer.body[name], mine[name])]))
    if (kept.length > 0) {
      run(() => save(patch, answer.etag))
      return
    }
    setTheirs(null)
    show(answer)
    onStored(answer)
  }

  return (
    <form noValidate onSubmit={submit}>
      <RequiredNote />
      <Alert error={error} />
      <FieldsForm schema={schema} draft={draft} faults={faults} onDraft={setDraft} />
      <div class='bar'>
        <button type='submit' class='primary' disabled={isBusy}>{say('user.save')}</button>
        {!isUnchanged && (
          <button
            type='button'
            onClick={() => {
              show(base)
              focusHeading()
            }}
          >
            {say('user.reset')}
          </button>
        )}
      </div>
      {theirs !== null && (
        <Conflict
          key={theirs.etag}
          schema={schema}
          before={base.body}
          yours={membersOf(wanted)}
          theirs={theirs.body}
          isBusy={isBusy}
          onClose={() => setTheirs(null)}
          onChosen={(kept) => choose(theirs, kept)}
        />
      )}
    </form>
  )
}
