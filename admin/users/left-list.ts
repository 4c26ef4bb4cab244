import type { Selected } from './bulk.ts'
import { hrefOf } from '../state/route.ts'

/** How the list of users was left: what it was asked for, and how far it was scrolled. In memory alone. */
export const leftList = { query: '', box: 0, page: 0 }

/** The way back to the list, as it was left. */
export const listHref = (): string => hrefOf(['users'], new URLSearchParams(leftList.query))

/** Whom the last import has created, until the page is left: it can be undone later too. */
export const lastImport: { users: readonly Selected[] } = { users: [] }
