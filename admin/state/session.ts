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

/** Where a key is kept if the person says so: in this tab until it is closed; shared-key.ts hands it to others. */
export const keptKey = {
  read: (): string | null => {
    try {
      return sessionStorage.getItem(NAME)
    } catch {
      return null
    }
  },
  write (key: string | null): void {
    try {
      if (key === null) sessionStorage.removeItem(NAME)
      else sessionStorage.setItem(NAME, key)
    } catch { /* The browser keeps nothing: the key stays in memory. */ }
  }
}
