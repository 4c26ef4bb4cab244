import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createClient } from './api/client.ts'
import { ApiError } from './api/error.ts'
import type { Capabilities } from './api/types.ts'
import { Brand } from './parts/brand.tsx'
import { Dialog } from './parts/dialog.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import { keptKey, type Session, SessionContext } from './state/session.ts'
import { useSettings } from './state/settings.ts'
import { useSpeech } from './state/texts.ts'

/** Shows the shell after sign-in. It stays, with everything typed, when the key is no longer accepted. */
export function App () {
  const { say } = useSpeech()
  const { api, session } = useSettings()
  const key = useRef(session === null ? keptKey.read() : 'session')
  const [capabilities, setCapabilities] = useState<Capabilities | null>(null)
  const [isExpired, setExpired] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const [isStarting, setStarting] = useState(key.current !== null)
  const [version, setVersion] = useState(0)
  const expire = useCallback(() => {
    // What went wrong before is not what goes wrong now.
    setError(null)
    setExpired(true)
  }, [])
  const client = useMemo(() => createClient(api, () => key.current ?? '', expire), [api])

  const signIn = useCallback(async (text: string, isKept: boolean): Promise<void> => {
    const before = key.current
    key.current = text
    setBusy(true)
    setError(null)
    try {
      const { body } = await client.get<Capabilities>('/capabilities')
      if (session === null && isKept) keptKey.write(text)
      setCapabilities(body)
      setExpired(false)
      setVersion((version) => version + 1)
    } catch (error) {
      key.current = before
      // Forget the stored key if it was refused. If there was none, nothing has been tried yet.
      if (error instanceof ApiError && error.isUnauthorized && session === null) keptKey.write(null)
      // Who has no session yet is asked to sign in, and is not told of keys.
      setError(session !== null && error instanceof ApiError && error.isUnauthorized ? null : error)
    } finally {
      setBusy(false)
      setStarting(false)
    }
  }, [client, session])

  useEffect(() => {
    if (key.current !== null) signIn(key.current, false)
  }, [])

  const signOut = useCallback(() => {
    keptKey.write(null)
    key.current = null
    // Nothing of what was seen stays in memory.
    location.reload()
  }, [])

  const value = useMemo<Session | null>(() => capabilities && {
    client,
    capabilities,
    version,
    signOut,
    can: (scope) => capabilities.caller.scopes.includes(scope)
  }, [client, capabilities, version, signOut])

  const form = <SignIn error={error} isBusy={isBusy} session={session} onKey={signIn} />
  if (value === null) {
    if (isStarting) return <p class='hint' role='status'>{say('page.loading')}</p>
    return (
      <main class='sign-in card'>
        <Brand />
        <h1>{say('signIn.title')}</h1>
        {form}
      </main>
    )
  }
  return (
    <SessionContext.Provider value={value}>
      <Shell />
      {isExpired && (
        <Dialog title={say('signIn.again')} onClose={() => setExpired(false)}>
          <p>{say(session === null ? 'signIn.expired' : 'signIn.sessionEnded')}</p>
          {form}
        </Dialog>
      )}
    </SessionContext.Provider>
  )
}
