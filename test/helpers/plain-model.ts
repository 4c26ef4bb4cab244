import { wordsOf } from '../../adapters/testing/values.ts'
import type { DeletedUser, UserRecord, UserStatus } from '../../lib/storage/storage.ts'

// A plain list of users that is counted and cut for each page, which stores are compared with.

const ACTIVE = { status: 'active', statusReason: null } as const

export interface Known {
  user: UserRecord
  nameKey: string
  emailKey: string
}

/** What a plain list knows: who is there, and who is put away. */
export interface Model { known: Map<string, Known>, away: Map<string, Known & { deletedAt: string }> }

/** Whose call it is: that of a tenant, or of whoever sees all. */
export type Tenant = 'acme' | 'beta' | null

export type Step = { tenant: Tenant } & (
  | { kind: 'create'; n: number; name: string; email: string }
  | {
    kind: 'update'
    n: number
    name: string | null
    email: string | null
    status: UserStatus | null
    version: number | null
  }
  | { kind: 'putAway' | 'restore' | 'purge'; n: number; version: number | null }
  | { kind: 'deleted'; offset: number; limit: number }
  | { kind: 'delete'; n: number; version: number | null }
  | {
    kind: 'list'
    order: 'asc' | 'desc'
    limit: number
    from: { offset: number } | { after: number }
    filter: { email: string | null; search: string | null; status: UserStatus | null }
  }
)

export const LATER = '2026-01-02T00:00:00.000Z'
export const idOf = (n: number): string => `usr_${String(n).padStart(26, '0')}`
const byId = (a: Known, b: Known) => (a.user.id < b.user.id ? -1 : 1)
const of = (tenant: Tenant) => tenant === null ? {} : { tenant }

/** The keys of a user. */
export const lower = ({ name, email }: { name: string, email: string }) =>
  ({ nameKey: name.toLowerCase(), emailKey: email.toLowerCase() })
const isAs = (version: number | null, { user }: Known) => version === null || version === user.version

/** What a plain list makes of a step that puts a user away, or takes it out again. */
function moved (
  { known, away }: Model,
  { kind, n, version }: Step & { kind: 'putAway' | 'restore' | 'purge' },
  { at, isSeen, holderOf }: Look
): unknown {
  const id = idOf(n)
  const [there, gone] = [known.get(id), away.get(id)]
  if (kind === 'restore') {
    if (gone === undefined || !isSeen(gone)) return null
    if (!isAs(version, gone)) return 'version_mismatch'
    if (there !== undefined) return 'field_taken'
    if (holderOf(gone.user.email, gone.user.tenant) !== undefined) return 'email_taken'
    const user = { ...gone.user, version: gone.user.version + 1, updatedAt: LATER }
    known.set(id, { user, ...lower(user) })
    away.delete(id)
    return { ...user }
  }
  // What is put away is purged by whoever sees it, though a user of another tenant has its id by now.
  const found = [there, kind === 'purge' ? gone : undefined].find((each) => each !== undefined && isSeen(each))
  if (found === undefined) return null
  if (!isAs(version, found)) return 'version_mismatch'
  if (found === there) known.delete(id)
  // What is put away of another tenant stays, unless another user takes its place.
  if (kind === 'putAway') away.set(id, { ...found, deletedAt: at })
  else if (gone?.user.tenant === found.user.tenant) away.delete(id)
  return { ...found.user }
}

/** What a step may look at. */
interface Look {
  at: string
  isSeen: (each: Known) => boolean
  /** Whoever has an address in a tenant, or among those of none. */
  holderOf: (email: string, of: string | undefined) => string | undefined
}

/** What a plain list makes of a step. */
export function expected (model: Model, step: Step, at: string): unknown {
  const { known, away } = model
  const { tenant } = step
  const isSeen = ({ user }: Known) => tenant === null || user.tenant === tenant
  const holderOf = (email: string, of: string | undefined) => [...known.values()].find(({ user, emailKey }) =>
    user.tenant === of && emailKey === email.toLowerCase())?.user.id
  if (step.kind === 'list') {
    const { email, search, status } = step.filter
    const fits = ({ user, nameKey, emailKey }: Known) =>
      (email === null || emailKey === email.toLowerCase()) && (status === null || user.status === status) &&
      wordsOf(search ?? '').every((word) => wordsOf(`${nameKey} ${emailKey}`).some((each) => each.startsWith(word)))
    const found = [...known.values()].filter((each) => isSeen(each) && fits(each)).sort(byId)
    if (step.order === 'desc') found.reverse()
    const { from } = step
    const rest =
      'offset' in from
        ? found.slice(from.offset)
        : found.filter(({ user: { id } }) => (step.order === 'asc' ? id > idOf(from.after) : id < idOf(from.after)))
    return { items: rest.slice(0, step.limit).map(({ user }) => ({ ...user })), total: found.length }
  }
  if (step.kind === 'deleted') {
    const found = [...away.values()].filter(isSeen).sort((a, b) => a.deletedAt < b.deletedAt ? 1 : -1)
    const items = found.slice(step.offset, step.offset + step.limit)
      .map(({ user, deletedAt }): DeletedUser => ({ user, deletedAt, deletedBy: null }))
    return { items: structuredClone(items), total: found.length }
  }
  if (step.kind === 'putAway' || step.kind === 'restore' || step.kind === 'purge') {
    return moved(model, { ...step, kind: step.kind }, { at, isSeen, holderOf })
  }
  const id = idOf(step.n)
  const holder = known.get(id)
  if (step.kind === 'create') {
    // A store may look at either first.
    const isTaken = holderOf(step.email, tenant ?? undefined) !== undefined
    if (holder !== undefined) {
      const code = tenant === null || isSeen(holder) ? 'fault' : 'field_taken'
      return isTaken ? `${code} or email_taken` : code
    }
    if (isTaken) return 'email_taken'
    const user = {
      ...{ id, name: step.name, email: step.email, fields: {}, ...ACTIVE, version: 1 },
      ...{ createdAt: at, updatedAt: at, ...of(tenant) }
    }
    known.set(id, { user, ...lower(user) })
    return { user: { ...user }, replayed: false }
  }
  if (holder === undefined || !isSeen(holder)) return null
  if (!isAs(step.version, holder)) return 'version_mismatch'
  if (step.kind !== 'update') {
    known.delete(id)
    return { ...holder.user }
  }
  const { name, email, status } = step
  const { user } = holder
  const next = { ...user, name: name ?? user.name, email: email ?? user.email, status: status ?? user.status }
  if (next.name === user.name && next.email === user.email && next.status === user.status) {
    return { user: { ...user }, changed: false }
  }
  if (email !== null && ![undefined, id].includes(holderOf(email, user.tenant))) return 'email_taken'
  holder.user = { ...next, version: next.version + 1, updatedAt: LATER }
  Object.assign(holder, lower(next))
  return { user: { ...holder.user }, changed: true }
}
