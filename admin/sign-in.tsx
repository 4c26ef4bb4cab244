import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Alert } from './parts/feedback.tsx'
import { Checkbox, TextField } from './parts/field.tsx'
import { useSettings } from './state/settings.ts'
import { useSpeech } from './state/texts.ts'

interface SignInProps {
  error: unknown
  isBusy: boolean
  /** Called with what is in the field for the key. */
  onTyped: (key: string) => void
  onKey: (key: string, isKept: boolean) => void
}

const COMMAND = 'npx fastify-users keys create --name me --scopes users:read,users:write'

/** Where a key comes from. */
export function KeySource () {
  const { say } = useSpeech()
  return (
    <details class='source'>
      <summary>{say('signIn.noKey')}</summary>
      <p>{say('signIn.source')}</p>
      <p><code dir='ltr'>{COMMAND}</code></p>
    </details>
  )
}

/** Asks for an API key; with sessions of the host's, for signing in there. */
export function SignIn ({ error, isBusy, onTyped, onKey }: SignInProps) {
  const { say } = useSpeech()
  const { session } = useSettings()
  const [key, setKey] = useState('')
  const [isKept, setKept] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => onTyped(key), [key])
  useEffect(() => () => onTyped(''), [])
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), [])
  if (session !== null) {
    return (
      <>
        <Alert error={error} />
        <p>{say('signIn.session')}</p>
        <div class='bar'>
          {session.signIn !== undefined && (
            <a class='button' href={session.signIn} target='_blank' rel='noreferrer'>{say('signIn.open')}</a>
          )}
          <button type='button' class='primary' disabled={isBusy} onClick={() => onKey('session', false)}>
            {say('signIn.continue')}
          </button>
        </div>
      </>
    )
  }
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (key.trim() !== '') onKey(key.trim(), isKept)
      }}
    >
      <Alert error={error} />
      <TextField
        label={say('signIn.key')}
        hint={say('signIn.help')}
        type='password'
        dir='ltr'
        isRequired
        value={key}
        onValue={setKey}
      />
      <Checkbox label={say('signIn.keep')} checked={isKept} onChecked={setKept} />
      <div class='bar'><button type='submit' class='primary' disabled={isBusy}>{say('signIn.submit')}</button></div>
    </form>
  )
}
