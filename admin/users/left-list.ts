import type { Selected } from './bulk.ts'
import { hrefOf } from '../state/route.ts'

/** How the list of users was left: what it was asked for, and how far it was scrolled. In memory alone. */
export const leftList = { query: '', box: 0, page: 0 }

/** The way back to the list, as it was left. */
export const listHref = (): string => hrefOf(['users'], new URLSearchParams(leftList.query))

const STORE = `fastify-users:${location.pathname}:import`
/** Browsers store about 5 MB for a tab, which the ids of larger imports might exceed. */
const KEPT = 20_000

function readImport (): readonly Selected[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORE) ?? '[]')
    return Array.isArray(stored)
      ? stored.map(([id, version]) =>
        ({ id: String(id), name: String(id), status: 'active', version: Number(version) }))
      : []
  } catch {
    return []
  }
}

/** Whom the last import of this tab has created: it can be undone later too. Their ids say nothing of anybody. */
export const lastImport = {
  users: readImport(),
  keep (users: readonly Selected[]): void {
    lastImport.users = users
    try {
      sessionStorage.removeItem(STORE)
      const kept = users.map(({ id, version }) => [id, version])
      if (kept.length > 0 && kept.length <= KEPT) sessionStorage.setItem(STORE, JSON.stringify(kept))
    } catch { /* The browser keeps nothing: it can be undone until the page is left. */ }
  }
}
