import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { SchemaRequirements, Storage } from '../../../lib/storage/storage.ts'
import { override } from '../method-store.ts'

/** A store that looks whether a unique value is taken before it adds a user. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  const withValue = (value: unknown) => ({
    emailKey: null, words: null, fields: { legacyId: Number(value) }
  })
  const migrating = {
    ...store,
    migrate: async ({ filterable = [], unique = [] }: SchemaRequirements = {}) =>
      store.migrate({ filterable: [...filterable, ...unique] })
  }
  return override(migrating, ({ createUser }) => ({
    async createUser (user, ...rest) {
      const page = { order: 'asc', limit: 1, from: { offset: 0 } } as const
      const { total } = await store.listUsers(withValue(user.fields['legacyId']), page)
      if (total > 0) throw new StorageError('field_taken', 'taken', { field: 'legacyId' })
      await setTimeout(20)
      return createUser(user, ...rest)
    }
  }))
}
