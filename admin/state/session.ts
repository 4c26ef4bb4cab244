import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Client } from '../api/client.ts'
import type { Capabilities } from '../api/types.ts'

/** Who is signed in, and what the key can do. */
export interface Session {
  client: Client
  capabilities: Capabilities
  /** True if the key has a scope. */
  can: (scope: string) => boolean
  /** Changes when somebody has signed in again. */
  version: number
  signOut: () => void
}

export const SessionContext = createContext<Session | null>(null)

export function useSession (): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('nobody is signed in')
  return session
}

const NAME = `fastify-users:${location.pathname}`

/** A place for a key in this tab's storage, which ends with the tab. */
const placeFor = (name: string) => ({
  read: (): string | null => {
    try {
      return sessionStorage.getItem(name)
    } catch {
      return null
    }
  },
  write (key: string | null): void {
    try {
      if (key === null) sessionStorage.removeItem(name)
      else sessionStorage.setItem(name, key)
    } catch { /* The browser keeps nothing: the key stays in memory. */ }
  }
})

/** Where a key is kept if the person says so: in this tab until it is closed; shared-key.ts hands it to others. */
export const keptKey = placeFor(NAME)

const reloaded = placeFor(`${NAME}#reload`)

/**
 * The key that this page had before it was reloaded, or null. It is taken out of the storage: a copy of the tab, and a
 * page that the tab goes on to, must not find it.
 */
export function takeReloadedKey (): string | null {
  const key = reloaded.read()
  reloaded.write(null)
  const isReload = performance.getEntriesByType('navigation')
    .some((entry) => entry instanceof PerformanceNavigationTiming && entry.type === 'reload')
  return isReload ? key : null
}

/** Hands the key to the page that a reload shows next. Only while the page is gone is the key in the storage. */
export function handOverAtReload (key: () => string | null): () => void {
  const leave = (): void => reloaded.write(key())
  // The page has come back as it was, with the key in its memory.
  const comeBack = (): void => reloaded.write(null)
  addEventListener('pagehide', leave)
  addEventListener('pageshow', comeBack)
  return () => {
    removeEventListener('pagehide', leave)
    removeEventListener('pageshow', comeBack)
  }
}
