import type { Outcome, Page, Row, Storage, TenantRecord } from '../../../lib/storage/storage.ts'
import { ALL, type Mistake, refuses, turn } from './users-wrappers.ts'

const VALUES = 'commit: a unique value is compared'
const LACKING = 'commit: any number of users lack'
const OWN = 'commit: each unique field has values of its own'
const FREED = 'commit: a user keeps its unique value'
const TENANTS = 'listTenants: those with a user or a key'
const TENANT_PAGES = 'listTenants: pages'
const TENANT_MOMENT = 'listTenants: numbers are exact'

const NAMES = ['legacyId', 'badge']

/** A mistake in which values count as one; the text of a value, or null: none. */
function unique (
  failed: string, name: string, textOf: (value: unknown, name: string, row: Row<'users'>) => string | null
): Mistake {
  return refuses(failed, name, () => {
    const holders = new Map<string, string>()
    const textsOf = (row: Row<'users'>) => NAMES.flatMap((field) => {
      const value = Object.hasOwn(row.record.fields, field) ? row.record.fields[field] : undefined
      const text = textOf(value, field, row)
      return text === null ? [] : [[field, text] as const]
    })
    return {
      refusal (put): Outcome | null {
        const taken = textsOf(put).find(([, text]) => ![undefined, put.record.id].includes(holders.get(text)))
        return taken === undefined ? null : { code: 'taken', at: 0, member: { field: taken[0] } }
      },
      done (put, was) {
        if (was !== null) for (const [, text] of textsOf(was)) holders.delete(text)
        if (put !== null) for (const [, text] of textsOf(put)) holders.set(text, put.record.id)
      }
    }
  })
}

const has = (value: unknown): boolean => value !== undefined && value !== null
const placeOf = (field: string, { record: { tenant = '' } }: Row<'users'>): string => `${tenant} ${field} `

const tenants = (
  failed: string, name: string, wrong: (right: Storage['listTenants'], ...given: Parameters<Storage['listTenants']>) =>
  Promise<Page<TenantRecord>>
): Mistake => ({
  name, failed, make: (storage) => ({ ...storage, listTenants: (page) => wrong(storage.listTenants, page) })
})

/** Mistakes in unique fields, and in lists of tenants. */
export const usersUnique: Mistake[] = [
  unique(VALUES, 'a number and its text are one unique value', (value, name, row) =>
    has(value) ? placeOf(name, row) + String(value) : null),
  unique(VALUES, 'unique values are compared without case', (value, name, row) =>
    has(value) ? placeOf(name, row) + JSON.stringify(value).toLowerCase() : null),
  unique(VALUES, 'unique values are compared in compatibility form', (value, name, row) =>
    has(value) ? placeOf(name, row) + JSON.stringify(value).normalize('NFKC') : null),
  unique(VALUES, 'unique values are compared by 200 characters', (value, name, row) =>
    has(value) ? placeOf(name, row) + JSON.stringify(value).slice(0, 200) : null),
  unique(LACKING, 'null is a unique value', (value, name, row) => value === null ? placeOf(name, row) : null),
  unique(LACKING, 'nothing is a unique value', (value, name, row) => value === undefined ? placeOf(name, row) : null),
  unique(OWN, 'unique fields share their values', (value, _name, row) =>
    has(value) ? placeOf('', row) + JSON.stringify(value) : null),
  unique(OWN, 'unique values are those of all tenants', (value, name) =>
    has(value) ? name + JSON.stringify(value) : null),
  refuses(FREED, 'a value that was given up stays taken', () => {
    const holders = new Map<unknown, string>()
    return {
      refusal: ({ record: { id, fields } }) => has(fields['legacyId']) &&
        ![undefined, id].includes(holders.get(fields['legacyId']))
        ? { code: 'taken', at: 0, member: { field: 'legacyId' } }
        : null,
      done (put) { if (put !== null) holders.set(put.record.fields['legacyId'], put.record.id) }
    }
  }),
  refuses(FREED, 'a user can not keep its unique value', () => {
    const taken = new Set<unknown>()
    return {
      refusal: ({ record: { fields } }) => taken.has(fields['legacyId'])
        ? { code: 'taken', at: 0, member: { field: 'legacyId' } }
        : null,
      done (put, was) {
        if (was !== null) taken.delete(was.record.fields['legacyId'])
        if (has(put?.record.fields['legacyId'])) taken.add(put?.record.fields['legacyId'])
      }
    }
  }),
  tenants(TENANTS, 'a tenant without users is none', async (right, page) => {
    const { items, total } = await right(page)
    const left = items.filter(({ users }) => users > 0)
    return { items: left, total: total - items.length + left.length }
  }),
  tenants(TENANTS, 'those of no tenant are one', async (right, page) => {
    const { items, total } = await right(page)
    return { items: [{ id: '', users: 1 }, ...items], total: total + 1 }
  }),
  tenants(TENANT_PAGES, 'the total is that of the page', async (right, page) => {
    const { items } = await right(page)
    return { items, total: items.length }
  }),
  tenants(TENANT_PAGES, 'tenants are in the order of a language', async (right, { order, limit, from }) => {
    if (!('offset' in from)) return right({ order, limit, from })
    const { items, total } = await right(ALL)
    const sorted = items.sort((a, b) => (order === 'asc' ? 1 : -1) * a.id.localeCompare(b.id))
    return { items: sorted.slice(from.offset).slice(0, limit), total }
  }),
  tenants(TENANT_PAGES, 'a page after a tenant ascends', (right, page) =>
    right('after' in page.from ? { ...page, order: 'asc' } : page)),
  tenants(TENANT_MOMENT, 'the total is of a later moment', async (right, page) => {
    const { items } = await right(page)
    await turn()
    return { items, total: (await right(page)).total }
  }),
  tenants(TENANT_MOMENT, 'tenants who have left stay for a while', async (right, page) => {
    const { items } = await right(page)
    await turn()
    const now = new Map((await right(ALL)).items.map(({ id, users }) => [id, users]))
    return { items: items.map(({ id }) => ({ id, users: now.get(id) ?? 0 })), total: items.length }
  })
]
