import { useRef, useState } from 'preact/hooks'
import { type Fault, isObject, type MinimalUser } from '../api/types.ts'
import { createdValue, type Draft, isSameDraft, newDraft } from '../form/draft.ts'
import { FieldsForm, formFaults } from '../form/fields-form.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { useNotify } from '../state/notices.ts'
import { currentTenant, hrefOf, useGuard, useNavigate } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from './faults.ts'
import { listHref } from './left-list.ts'
import { randomKey } from '../../client/random-key.ts'
import { userSchema, withTenant } from './schema.ts'
import { TakenBy } from './taken-by.tsx'

/** The way to the form for a new user. */
export function NewUserLink () {
  const { say } = useSpeech()
  return <a class='button primary' href={hrefOf(['users', 'new'])}><Icon name='add' />{say('users.new')}</a>
}

/** The form for a new user. */
export function CreateUser () {
  const speech = useSpeech()
  const { say } = speech
  const { client, capabilities, can } = useSession()
  const notify = useNotify()
  const navigate = useNavigate()
  const { offers, caller } = capabilities
  const isOfAny = offers.tenants && caller.tenant === undefined && currentTenant() === null
  const schema = isOfAny ? withTenant(userSchema(capabilities, speech), speech) : userSchema(capabilities, speech)
  const [begun] = useState<Draft>(() => newDraft(schema, true))
  const [draft, setDraft] = useState<Draft>(begun)
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const { error, isBusy, run } = useAction()
  const isSaved = useRef(false)
  // The same body is the same creation, however often it is sent.
  const idempotency = useRef({ body: '', key: '' })
  useGuard(() => isSaved.current || isSameDraft(draft, begun))

  const submit = (event: { preventDefault: () => void, currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const wrong = formFaults(event.currentTarget, draft, speech)
    setFaults(wrong)
    if (wrong.length > 0) return
    run(async () => {
      const body = createdValue(begun, draft) ?? {}
      const text = JSON.stringify(body)
      if (idempotency.current.body !== text) idempotency.current = { body: text, key: randomKey() }
      try {
        const headers = { 'idempotency-key': idempotency.current.key }
        const { body: { id } } = await client.send<MinimalUser>('POST', '/users', { body, headers })
        isSaved.current = true
        notify(say('user.created', { name: isObject(body) ? String(body['name']) : id }), { isForNext: true })
        navigate(can('users:read') ? hrefOf(['users', id]) : listHref())
      } catch (error) {
        setFaults(faultsOf(error))
        throw error
      }
    })
  }

  return (
    <form noValidate class='card' onSubmit={submit}>
      <FieldsForm draft={draft} faults={faults} onDraft={setDraft} />
      <div class='save'>
        <TakenBy faults={faults} sent={createdValue(begun, draft)} />
        <Alert error={error} />
        <div class='bar'>
          <button type='submit' class='primary' disabled={isBusy}>{say('user.create')}</button>
          <a class='button' href={listHref()}>{say('page.cancel')}</a>
        </div>
      </div>
    </form>
  )
}
