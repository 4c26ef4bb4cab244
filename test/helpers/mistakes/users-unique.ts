import type { Outcome, Page, Row, Storage, TenantRecord, Unit } from '../../../lib/storage/storage.ts'
import { type Mistake, right, store, turn } from './wrappers.ts'

const NAMES = ['legacyId', 'badge']

/** A mistake in which values count as one; the text of a value, or null: none. `frees`: whoever leaves one frees it. */
function unique (
  failed: string,
  name: string,
  textOf: (value: unknown, name: string, row: Row<'users'>) => string | null,
  { frees = true } = {}
): Mistake {
  return store(failed, name, (storage) => {
    const holders = new Map<string, string>()
    const textsOf = (row: Row<'users'> | null) => NAMES.flatMap((field) => {
      if (row === null) return []
      const value = Object.hasOwn(row.record.fields, field) ? row.record.fields[field] : undefined
      const text = textOf(value, field, row)
      return text === null ? [] : [[field, text] as const]
    })
    async function commitOne (unit: Unit): Promise<Outcome> {
      const [write] = unit.writes
      if (write?.in !== 'users') return right(storage, unit)
      const { put, was } = write
      const taken = textsOf(put).find(([, text]) => ![undefined, put?.record.id].includes(holders.get(text)))
      if (taken !== undefined) return { code: 'taken', at: 0, member: { field: taken[0] } }
      const outcome = await right(storage, unit)
      if (outcome.code !== 'ok') return outcome
      if (frees) for (const [, text] of textsOf(was)) holders.delete(text)
      for (const [, text] of textsOf(put)) holders.set(text, put?.record.id ?? '')
      return outcome
    }
    return {
      async commit (units) {
        const outcomes: Outcome[] = []
        for (const unit of units) outcomes.push(await commitOne(unit))
        return outcomes
      }
    }
  })
}

const placeOf = (field: string, { record: { tenant = '' } }: Row<'users'>): string => `${tenant} ${field} `

const tenants = (
  failed: string, name: string, wrong: (right: Storage['listTenants'], ...given: Parameters<Storage['listTenants']>) =>
  Promise<Page<TenantRecord>>
): Mistake => store(failed, name, (storage) => ({ listTenants: (page) => wrong(storage.listTenants, page) }))

/** Mistakes in unique fields, and in lists of tenants. */
export const usersUnique: Mistake[] = [
  unique('commit: any number of users lack', 'nothing is a unique value',
    (value, name, row) => value === undefined ? placeOf(name, row) : null),
  unique('commit: each unique field has values of its own', 'unique values are those of all tenants', (value, name) =>
    value === undefined ? null : name + JSON.stringify(value)),
  unique('commit: a user keeps its unique value', 'a value that was given up stays taken', (value, field, row) =>
    value === undefined || value === null ? null : placeOf(field, row) + String(value), { frees: false }),
  tenants('listTenants: those with a user or a key', 'a tenant without users is none', async (right, page) => {
    const { items, total } = await right(page)
    const left = items.filter(({ users }) => users > 0)
    return { items: left, total: total - items.length + left.length }
  }),
  tenants('listTenants: pages', 'the total is that of the page', async (right, page) => {
    const { items } = await right(page)
    return { items, total: items.length }
  }),
  tenants('listTenants: numbers are exact', 'the total is of a later moment', async (right, page) => {
    const { items } = await right(page)
    await turn()
    return { items, total: (await right(page)).total }
  })
]
