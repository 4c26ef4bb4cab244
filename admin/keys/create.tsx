import { useState } from 'preact/hooks'
import type { Fault, NewApiKey } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Checkbox, TextField } from '../parts/field.tsx'
import { SecretDialog } from '../parts/secret.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from '../users/faults.ts'
import { expiryOf, Lifetime, usualLifetime } from './lifetime.tsx'

/** What the scopes let a key do. */
const MEANINGS = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write', 'groups:read', 'groups:write', 'scim:users', 'scim:groups', 'tenants:read', 'tenants:delete'
] as const

/** A scope with what it means. */
function ScopeLabel ({ scope }: { scope: string }) {
  const { say } = useSpeech()
  const { capabilities: { scopes } } = useSession()
  const known = MEANINGS.find((each) => each === scope)
  const meaning = known === undefined ? scopes[scope] : say(`scope.${known}`)
  return <><code>{scope}</code>{meaning !== undefined && <span class='muted'> {meaning}</span>}</>
}

/** A form for a new key, and then its text, once. A key can only give the scopes that it has. */
export function CreateKey ({ onClose }: { onClose: (isMade: boolean) => void }) {
  const { say, sayFault } = useSpeech()
  const { client, capabilities: { caller } } = useSession()
  const [name, setName] = useState('')
  const [owner, setOwner] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(caller.scopes.filter((each) => each === 'users:read'))
  const [lifetime, setLifetime] = useState(usualLifetime(caller))
  const [made, setMade] = useState<NewApiKey | null>(null)
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const { error, isBusy, run } = useAction()
  const faultAt = (pointer: string, value?: string): string | undefined => {
    const fault = faults.find((each) => each.pointer?.startsWith(pointer) === true)
    return fault && sayFault(fault, value)
  }

  const submit = (event: Event): void => {
    event.preventDefault()
    setFaults([])
    run(async () => {
      const body = { name, scopes: [...scopes], ...expiryOf(lifetime, caller), ...(owner.trim() !== '' && { owner }) }
      try {
        setMade((await client.send<NewApiKey>('POST', '/api-keys', { body })).body)
      } catch (error) {
        setFaults(faultsOf(error))
        throw error
      }
    })
  }

  if (made !== null) {
    return (
      <SecretDialog
        title={say('keys.new')}
        label='keys.text'
        help='keys.once'
        text={made.key}
        onClose={() => onClose(true)}
      />
    )
  }
  const scopeFault = faultAt('/scopes')
  return (
    <Dialog title={say('keys.new')} onClose={() => onClose(false)}>
      <form noValidate onSubmit={submit}>
        <Alert error={error} />
        <TextField label={say('keys.name')} isRequired value={name} fault={faultAt('/name', name)} onValue={setName} />
        <TextField
          label={say('keys.owner')}
          hint={say('keys.ownerHelp')}
          value={owner}
          fault={faultAt('/owner')}
          onValue={setOwner}
        />
        <fieldset>
          <legend>{say('keys.scopes')}</legend>
          <div class='grid'>
            {caller.scopes.map((scope) => (
              <Checkbox
                key={scope}
                label={<ScopeLabel scope={scope} />}
                checked={scopes.includes(scope)}
                onChecked={(on) => setScopes(on ? [...scopes, scope] : scopes.filter((each) => each !== scope))}
              />
            ))}
          </div>
          {scopeFault !== undefined && <p class='fault'>{scopeFault}</p>}
        </fieldset>
        <Lifetime value={lifetime} fault={faultAt('/expires')} onValue={setLifetime} />
        <div class='bar'>
          <button type='submit' class='primary' disabled={isBusy}>{say('keys.create')}</button>
          <button type='button' onClick={() => onClose(false)}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
