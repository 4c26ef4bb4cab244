import { useState } from 'preact/hooks'
import type { Fault, NewApiKey } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert, Secret, useAction } from '../parts/feedback.tsx'
import { Checkbox, SelectField, TextField } from '../parts/field.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from '../users/faults.ts'

const LIFETIMES = [30, 90, 365]
const FOREVER = 'forever'
const DAY_SECONDS = 86_400

/** A form for a new key, and then its text, once. A key can only give the scopes that it has. */
export function CreateKey ({ onClose }: { onClose: (isMade: boolean) => void }) {
  const { say, sayFault } = useSpeech()
  const { client, capabilities: { caller } } = useSession()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(caller.scopes.filter((each) => each === 'users:read'))
  const [lifetime, setLifetime] = useState(caller.expiresAt === undefined ? '365' : '30')
  const [made, setMade] = useState<NewApiKey | null>(null)
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const { error, isBusy, run } = useAction()
  const faultAt = (pointer: string): string | undefined => {
    const fault = faults.find((each) => each.pointer?.startsWith(pointer) === true)
    return fault && sayFault(fault)
  }

  const submit = (event: Event): void => {
    event.preventDefault()
    setFaults([])
    run(async () => {
      const expiry = lifetime === FOREVER ? { expiresAt: null } : { expiresIn: Number(lifetime) * DAY_SECONDS }
      const body = { name, scopes: [...scopes], ...expiry }
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
      <Dialog title={say('keys.new')} confirmClose={say('page.closeSecret')} onClose={() => onClose(true)}>
        <Secret label='keys.text' help='keys.once' text={made.key} />
        <button type='button' onClick={() => onClose(true)}>{say('page.close')}</button>
      </Dialog>
    )
  }
  const scopeFault = faultAt('/scopes')
  return (
    <Dialog title={say('keys.new')} onClose={() => onClose(false)}>
      <form noValidate onSubmit={submit}>
        <Alert error={error} />
        <TextField label={say('keys.name')} isRequired value={name} fault={faultAt('/name')} onValue={setName} />
        <fieldset>
          <legend>{say('keys.scopes')}</legend>
          {caller.scopes.map((scope) => (
            <Checkbox
              key={scope}
              label={<code>{scope}</code>}
              checked={scopes.includes(scope)}
              onChecked={(on) => setScopes(on ? [...scopes, scope] : scopes.filter((each) => each !== scope))}
            />
          ))}
          {scopeFault !== undefined && <p class='fault'>{scopeFault}</p>}
        </fieldset>
        <SelectField
          label={say('keys.lifetime')}
          value={lifetime}
          fault={faultAt('/expires')}
          options={[
            ...LIFETIMES.map((days) => [String(days), say('keys.days', { count: days })] as const),
            [FOREVER, say('keys.forever')]
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
