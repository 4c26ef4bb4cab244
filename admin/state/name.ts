import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'

export const NameContext = createContext<(name: string | null) => void>(() => {})

/** Calls the view after what it shows: in its heading, and on the tab of the browser. Undefined: not known yet. */
export function useName (name: string | undefined): void {
  const setName = useContext(NameContext)
  useEffect(() => setName(name ?? null), [name])
  useEffect(() => () => setName(null), [])
}
