import { useState } from 'preact/hooks'
import type { Fault, NewApiKey } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Checkbox, SelectField, TextField } from '../parts/field.tsx'
import { SecretDialog } from '../parts/secret.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from '../users/faults.ts'

const LIFETIMES = [30, 90, 365]
/** As long as the caller's own key, which may be for ever. */
const LONGEST = 'longest'
const DAY_SECONDS = 86_400

/** The lifetimes, in days, that a key which expires then can give: none beyond its own. */
function lifetimesUntil (expiresAt: string | undefined): number[] {
  const left = expiresAt === undefined ? Infinity : Date.parse(expiresAt) - Date.now()
  return LIFETIMES.filter((days) => days * DAY_SECONDS * 1000 < left)
}

/** A form for a new key, and then its text, once. A key can only give the scopes that it has. */
export function CreateKey ({ onClose }: { onClose: (isMade: boolean) => void }) {
  const { say, sayFault } = useSpeech()
  const { client, capabilities: { caller } } = useSession()
  const [name, setName] = useState('')
  const [owner, setOwner] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(caller.scopes.filter((each) => each === 'users:read'))
  const lifetimes = lifetimesUntil(caller.expiresAt)
  const [lifetime, setLifetime] = useState(caller.expiresAt === undefined ? '365' : String(lifetimes[0] ?? LONGEST))
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
      const expiry = lifetime === LONGEST
        ? { expiresAt: caller.expiresAt ?? null }
        : { expiresIn: Number(lifetime) * DAY_SECONDS }
      const body = { name, scopes: [...scopes], ...expiry, ...(owner.trim() !== '' && { owner }) }
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
                label={<code>{scope}</code>}
                checked={scopes.includes(scope)}
                onChecked={(on) => setScopes(on ? [...scopes, scope] : scopes.filter((each) => each !== scope))}
              />
            ))}
          </div>
          {scopeFault !== undefined && <p class='fault'>{scopeFault}</p>}
        </fieldset>
        <SelectField
          label={say('keys.lifetime')}
          value={lifetime}
          fault={faultAt('/expires')}
          options={[
            ...lifetimes.map((days) => [String(days), say('keys.days', { count: days })] as const),
            [LONGEST, say(caller.expiresAt === undefined ? 'keys.forever' : 'keys.untilOwn')]
          ]}
          onValue={setLifetime}
        />
        <div class='bar'>
          <button type='submit' class='primary' disabled={isBusy}>{say('keys.create')}</button>
          <button type='button' onClick={() => onClose(false)}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
