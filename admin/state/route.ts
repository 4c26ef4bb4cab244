import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isTenant } from '../../lib/core/tenant.ts'
import { isObject } from '../api/types.ts'

// The page's places are behind the `#` of its address: they work under any prefix, and no server sees them.

export interface Route {
  /** The tenant that the page is narrowed to, as `@acme` at the beginning of the path; null: all there are. */
  tenant: string | null
  /** Such as `['users', 'usr_…']`. */
  path: readonly string[]
  query: URLSearchParams
}

/** Says whether something would be lost by leaving, and asks with a question of its own if it has one. */
let guard: { mayLeave: () => boolean, question: string | undefined } | null = null
let current = location.hash
// Each entry of the browser's history holds its position, so that a step can be taken back, whichever way it went.
let position = -1
position = readPosition()

/** The position of the entry that the page is at. An entry without one is new: it follows the one before. */
function readPosition (): number {
  const state: unknown = history.state
  if (isObject(state) && typeof state['position'] === 'number') return state['position']
  history.replaceState({ position: position + 1 }, '')
  return position + 1
}

function parse (hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const parts = path.split('/').filter((part) => part !== '').map(decoded)
  const [first = ''] = parts
  const tenant = first.startsWith('@') && isTenant(first.slice(1)) ? first.slice(1) : null
  return { tenant, path: tenant === null ? parts : parts.slice(1), query: new URLSearchParams(query) }
}

/** The tenant that the page is narrowed to. */
export const currentTenant = (): string | null => parse(current).tenant

/** What a route shows, whatever it is narrowed by. */
export const placeOf = ({ tenant, path }: Route): string => [`@${tenant ?? ''}`, ...path].join('/')

function decoded (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The address of a place, for links. The tenant stays the same unless another is given. */
export function hrefOf (
  path: readonly string[],
  query: URLSearchParams = new URLSearchParams(),
  tenant: string | null = currentTenant()
): string {
  const search = query.toString()
  const parts = [...tenant === null ? [] : [`@${tenant}`], ...path.map(encodeURIComponent)]
  return `#/${parts.join('/')}${search === '' ? '' : `?${search}`}`
}

export function navigate (href: string): void {
  location.hash = href
}

/** Navigates after an answer, unless the person has left the component meanwhile. */
export function useNavigate (): (href: string) => void {
  const isLeft = useRef(false)
  useEffect(() => () => { isLeft.current = true }, [])
  return (href) => { if (!isLeft.current) navigate(href) }
}

/** Changes the query of the place without a step in the browser's history. */
export function replaceQuery (query: URLSearchParams): void {
  history.replaceState(history.state, '', hrefOf(parse(location.hash).path, query))
  window.dispatchEvent(new HashChangeEvent('hashchange'))
}

/**
 * Asks `mayLeave` before the place is left, while the component is there. `question`: what the person is asked then;
 * by default that something typed is not saved.
 */
export function useGuard (mayLeave: () => boolean, question?: string): void {
  // Before the next event: an effect after painting would know a late keystroke too late.
  useLayoutEffect(() => {
    const stay = (event: BeforeUnloadEvent): void => {
      if (!mayLeave()) event.preventDefault()
    }
    const own = guard = { mayLeave, question }
    window.addEventListener('beforeunload', stay)
    return () => {
      if (guard === own) guard = null
      window.removeEventListener('beforeunload', stay)
    }
  })
}

/** The place that the page is at. `confirmLeave` asks the person when a form there is not saved. */
export function useRoute (confirmLeave: (question?: string) => boolean): Route {
  // Who was not signed in may have gone elsewhere before.
  const [hash, setHash] = useState(() => {
    current = location.hash
    return current
  })
  useEffect(() => { position = readPosition() }, [])
  useEffect(() => {
    const change = (): void => {
      const isAway = placeOf(parse(location.hash)) !== placeOf(parse(current))
      const next = readPosition()
      if (isAway && guard !== null && !guard.mayLeave() && !confirmLeave(guard.question)) {
        history.go(position - next)
        return
      }
      position = next
      current = location.hash
      setHash(current)
    }
    window.addEventListener('hashchange', change)
    return () => window.removeEventListener('hashchange', change)
  })
  return parse(hash)
}
