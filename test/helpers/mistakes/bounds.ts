import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { EventRecord, Unit } from '../../../lib/storage/storage.ts'
import { arranges, asks } from './users-wrappers.ts'
import { inTransaction, keeps, lists, type Mistake, right, store, units } from './wrappers.ts'

const comes = (name: string): string => `commit, find, list: every member of the rows of ${name}`
const found = (what: string): string => `users.list, users.walk: ${what}`

const size = (value: unknown): number => JSON.stringify(value).length
const first = <Value>(values: Readonly<Record<string, Value>>, count: number): Record<string, Value> =>
  Object.fromEntries(Object.entries(values).slice(0, count))
const rounded = (value: unknown): number => Number(Number(value).toPrecision(15))

/** Of a member of rows, or of JSON, only so much is kept. */
const cuts = (of: 'apiKeys' | 'deliveries' | 'trash' | 'webhooks', member: string, count: number): Mistake =>
  keeps(comes(of), `at most ${count} ${member}`, of, ({ [member]: value }) =>
    Array.isArray(value) ? { [member]: value.slice(0, count) } : {})
const loses = (of: 'deliveries' | 'idempotency' | 'trash', member: string, bytes: number, instead: unknown): Mistake =>
  keeps(comes(of), `${member} of more than ${bytes} bytes are lost`, of, ({ [member]: value }) =>
    size(value) > bytes ? { [member]: instead } : {})

/** The first text that can't be stored in a unit, if there is one. */
function unstorable ({ writes }: Unit): string | undefined {
  const texts = writes.flatMap(({ put }) => Object.values({ ...put?.record }))
  return texts.filter((value) => typeof value === 'string').find((value) => value.includes('\0'))
}

/** Mistakes that the kit once let pass: most show only where much is asked for or kept. */
export const boundMistakes: Mistake[] = [
  units('commit, log.rewrite: the rewritings of a unit', 'at most 1,000 events are written anew', (storage, unit) => {
    const rewrites = unit.rewrites.map(({ of, make }) => {
      let count = 0
      return { of, make: (event: EventRecord) => ++count > 1000 ? event : make(event) }
    })
    return right(storage, { ...unit, rewrites })
  }),
  asks(found('every one of many conditions'), 'one field has one of several values', ({ anyOf = {}, ...filter }) =>
    ({ ...filter, anyOf: first(anyOf, 1) })),
  asks(found('every one of many conditions'), 'one field is there or not', ({ exists = {}, ...filter }) =>
    ({ ...filter, exists: first(exists, 1) })),
  asks(found('every one of many conditions'), 'there are at most two ranges', ({ ranges = [], ...filter }) =>
    ({ ...filter, ranges: ranges.slice(0, 2) })),
  asks(found('a group has its members'), 'words are left out beside a group', (filter) =>
    filter.group === undefined ? filter : { ...filter, words: null }),
  asks(found('one of several values'), 'at most 99 values', ({ anyOf = {}, ...filter }) => ({
    ...filter, anyOf: Object.fromEntries(Object.entries(anyOf).map(([name, values]) => [name, values.slice(0, 99)]))
  })),
  asks(found('ids and e-mail keys'), 'at most 99 e-mail keys', ({ emailKeys, ...filter }) =>
    ({ ...filter, ...(emailKeys && { emailKeys: emailKeys.slice(0, 99) }) })),
  asks(found('ids and e-mail keys'), 'at most 99 ids', ({ ids, ...filter }) =>
    ({ ...filter, ...(ids && { ids: ids.slice(0, 99) }) })),
  asks(found('a search may have several lists'), 'at most 199 lists', (filter) =>
    ({ ...filter, words: filter.words && filter.words.slice(0, 199) })),
  asks(found('numbers and texts are bounded'), 'bounds have 15 digits', ({ ranges = [], ...filter }) => ({
    ...filter,
    ranges: ranges.map(({ of, ...bounds }) => ({
      of,
      ...Object.fromEntries(Object.entries(bounds).map(([bound, value]) =>
        [bound, typeof value === 'number' ? rounded(value) : value]))
    }))
  })),
  arranges(found('a field orders users by type'), 'numbers have 15 digits', (all, { order }) => all.toSorted((a, b) =>
    Number(a.fields['rank']) > 1e9 && rounded(a.fields['rank']) === rounded(b.fields['rank']) && order === 'asc'
      ? Number(a.id > b.id) - Number(a.id < b.id)
      : 0)),
  ...['apiKeys', 'deliveries', 'userGroups', 'memberships'].map((name) =>
    lists(`list: pages of ${name}`, 'at most 999 values are asked for', (list, { where, ...query }) =>
      list({ ...query, ...(where && { where: { ...where, values: where.values.slice(0, 999) } }) }))),
  ...[(text: string) => new StorageError('fault', `it cannot keep ${text}`), (text: string) => new StorageError(
    'fault', 'a text cannot be stored', { cause: new Error(JSON.stringify(text)) }
  )].map((errorOf, i) => units(
    `commit: a text that ${['cannot be kept', 'a store cannot keep'][i]}`, 'a fault has the text',
    async (storage, unit) => {
      const text = unstorable(unit)
      if (text !== undefined) throw errorOf(text)
      return right(storage, unit)
    }
  )),
  store('close, open: all that was answered', 'nothing is on a disk', () => ({})),
  inTransaction('join: a row that others change', 'a conflict is a row that was changed', () => ({
    commit: async (all) => all.map(() => ({ code: 'changed', at: 0 }))
  })),
  cuts('trash', 'groups', 99), cuts('apiKeys', 'scopes', 15), cuts('webhooks', 'types', 19),
  cuts('webhooks', 'secrets', 3), cuts('deliveries', 'attempts', 19),
  loses('trash', 'fields', 4096, {}), loses('deliveries', 'testEvent', 60_000, null),
  loses('idempotency', 'kept', 900 * 1024, null),
  units('commit, log.read: every member of an event', 'data of more than 60 KiB are lost', (storage, unit) => right(
    storage,
    { ...unit, events: unit.events.map((event) => size(event) > 60 * 1024 ? { ...event, data: {} } : event) }
  ))
]
