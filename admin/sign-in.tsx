import { useEffect, useRef, useState } from 'preact/hooks'
import { Alert } from './parts/feedback.tsx'
import { Checkbox, TextField } from './parts/field.tsx'
import { useSpeech } from './state/texts.ts'

interface SignInProps {
  error: unknown
  isBusy: boolean
  /** The host's sign-in page, if the page uses the host's sessions. */
  session: { signIn?: string } | null
  onKey: (key: string, isKept: boolean) => void
}

/** Asks for an API key; with sessions of the host's, for signing in there. */
export function SignIn ({ error, isBusy, session, onKey }: SignInProps) {
  const { say } = useSpeech()
  const [key, setKey] = useState('')
  const [isKept, setKept] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector('input')?.focus(), [])
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
