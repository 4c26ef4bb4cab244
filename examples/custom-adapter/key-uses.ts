import type { Storage } from 'fastify-users/storage'
import { isKey, type LmdbDatabase } from './database.ts'

/** Uses of API keys in LMDB. Nothing comes between the read and the write of a number. */
export function lmdbKeyUses ({ apiKeys, keyUses, read, write }: LmdbDatabase): NonNullable<Storage['keyUses']> {
  return {
    add: (uses) => write(() => {
      for (const { key, day, uses: more } of uses.filter(({ key }) => isKey(key) && apiKeys.doesExist(key))) {
        keyUses.putSync([key, day], (keyUses.get([key, day]) ?? 0) + more)
      }
    }),

    list: (key) => read(() => isKey(key)
      ? [...keyUses.getRange({ start: [key, ''], end: [key, '~'] })].map(({ key: [, day], value }) =>
          ({ day, uses: value }))
      : []),

    prune: (before, limit) => write(() => {
      const old = [...keyUses.getKeys()].filter(([, day]) => day < before).slice(0, limit)
      for (const place of old) keyUses.removeSync(place)
      return old.length
    })
  }
}
