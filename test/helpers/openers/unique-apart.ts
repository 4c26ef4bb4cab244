import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Outcome, Storage, Unit } from '../../../lib/storage/storage.ts'

/** A store that looks whether a unique value is taken before it adds a user. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  const page = { order: 'asc', limit: 1, from: { offset: 0 } } as const
  async function commitOne (unit: Unit): Promise<Outcome> {
    for (const [at, write] of unit.writes.entries()) {
      const value = write.in === 'users' ? write.put?.record.fields['memberNo'] : undefined
      if (typeof value !== 'number') continue
      const { total } = await store.users.list({ emailKey: null, words: null, fields: { memberNo: value } }, page)
      if (total > 0) return { code: 'taken', at, member: { field: 'memberNo' } }
      await setTimeout(20)
    }
    const [outcome = { code: 'ok' }] = await store.commit([unit])
    return outcome
  }
  return {
    ...store,
    open: ({ filterable = [], unique = [], ...options } = {}) =>
      store.open({ ...options, filterable: [...filterable, ...unique] }),
    commit: (units) => Promise.all(units.map(commitOne))
  }
}
