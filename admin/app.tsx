import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createClient } from './api/client.ts'
import { ClientError } from '../client/error.ts'
import type { Capabilities } from './api/types.ts'
import { Brand } from './parts/brand.tsx'
import { Dialog } from './parts/dialog.tsx'
import { Shell } from './shell.tsx'
import { KeySource, SignIn } from './sign-in.tsx'
import { currentTenant } from './state/route.ts'
import { handOverAtReload, keptKey, type Session, SessionContext, takeReloadedKey } from './state/session.ts'
import { type SharedKey, shareKey } from './state/shared-key.ts'
import { useSettings } from './state/settings.ts'
import { useSpeech } from './state/texts.ts'
import { lastImport } from './users/left-list.ts'

/** The host and the prefix of the API. */
function placeOf (api: string): string {
  const { host, pathname } = new URL(api, document.baseURI)
  return host + pathname.replace(/\/$/, '')
}

/** Shows the shell after sign-in. It stays, with everything typed, when the key is no longer accepted. */
export function App () {
  const { say } = useSpeech()
  const { api, session } = useSettings()
  const [atStart] = useState(() => {
    const reloaded = takeReloadedKey()
    return session === null ? keptKey.read() ?? reloaded : 'session'
  })
  const key = useRef(atStart)
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
  const offersTenants = useRef(false)
  offersTenants.current = capabilities?.offers.tenants === true
  const client = useMemo(() => createClient({
    base: api,
    token: () => key.current ?? '',
    tenant: () => offersTenants.current ? currentTenant() : null,
    onUnauthorized: expire
  }), [api])

  const signIn = useCallback(async (text: string, from: 'typed' | 'kept' | 'shared', isKept: boolean) => {
    const before = key.current
    key.current = text
    setBusy(true)
    setError(null)
    try {
      const { body } = await client.get<Capabilities>('/capabilities', { isOfAll: true })
      if (session === null && from !== 'kept') keptKey.write(isKept ? text : null)
      if (session === null && from === 'typed' && isKept) shared.current?.give(text)
      setCapabilities(body)
      setExpired(false)
      setVersion((version) => version + 1)
    } catch (error) {
      const isRefused = error instanceof ClientError && error.statusCode === 401
      key.current = isRefused && session === null && from === 'kept' ? null : before
      // Forget the stored key if it was refused. If there was none, nothing has been tried yet.
      if (isRefused && session === null) keptKey.write(null)
      // Who has no session yet is asked to sign in, and is not told of keys; nor who has typed none.
      setError(from === 'shared' || (session !== null && isRefused) ? null : error)
    } finally {
      setBusy(false)
      setStarting(false)
    }
  }, [client, session])

  useEffect(() => {
    if (key.current !== null) signIn(key.current, 'kept', false)
  }, [])
  useEffect(() => session === null
    ? handOverAtReload(() => keptKey.read() === null ? key.current : null)
    : undefined, [])

  const forget = (): void => {
    keptKey.write(null)
    key.current = null
  }

  const shared = useRef<SharedKey | null>(null)
  const typed = useRef('')
  const state = useRef({ capabilities, isExpired, isBusy })
  state.current = { capabilities, isExpired, isBusy }
  useEffect(() => {
    if (session !== null) return
    const sharer = shared.current = shareKey({
      read: () => state.current.capabilities === null || state.current.isExpired ? null : keptKey.read(),
      onKey (text) {
        const { capabilities, isExpired, isBusy } = state.current
        const isWaiting = capabilities === null ? key.current === null : isExpired && keptKey.read() !== null
        if (isWaiting && !isBusy && typed.current === '') signIn(text, 'shared', true)
      },
      onSignedOut (id) {
        if (keptKey.read() === null || state.current.capabilities?.caller.id !== id) return
        forget()
        // Forms that are not saved are gone before the page is, and do not hold it up with a question.
        setCapabilities(null)
        setTimeout(() => location.reload())
      }
    })
    if (key.current === null) sharer.ask()
    return sharer.close
  }, [])

  const signOut = useCallback(() => {
    const id = state.current.capabilities?.caller.id
    if (keptKey.read() !== null && id !== undefined) shared.current?.signOut(id)
    forget()
    lastImport.keep([])
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

  const form = (
    <SignIn
      error={error}
      isBusy={isBusy}
      onTyped={(text) => { typed.current = text }}
      onKey={(text, isKept) => signIn(text, 'typed', isKept)}
    />
  )
  if (value === null) {
    if (isStarting) return <p class='hint' role='status'>{say('page.loading')}</p>
    return (
      <main class='sign-in card'>
        <Brand />
        <h1>{say('signIn.title')}</h1>
        <p class='muted'>{say('signIn.where', { place: `\u2068${placeOf(api)}\u2069` })}</p>
        {form}
        {session === null && <KeySource />}
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
