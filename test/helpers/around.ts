// What comes between a store and those who call it, in the store itself.
import type { CollectionName, RowKey, Storage, Unit, UserRecord } from '../../lib/storage/storage.ts'

/** Makes the call, or not, and gives its value. */
type Around<Asked> = <Value>(call: () => Promise<Value>, asked: Asked) => Promise<Value>

/** Comes between for `find` in a collection. Returns the store. */
export function aroundFind<Store extends Storage> (
  storage: Store, of: CollectionName, around: Around<readonly RowKey[]>
): Store {
  const find: Storage['find'] = storage.find.bind(storage)
  storage.find = (name, keys) => name === of ? around(() => find(name, keys), keys) : find(name, keys)
  return storage
}

/** Comes between for units that write a collection. Returns the store. */
export function aroundCommit<Store extends Storage> (
  storage: Store, of: CollectionName, around: Around<readonly Unit[]>
): Store {
  const commit = storage.commit.bind(storage)
  storage.commit = (units) => units.some(({ writes }) => writes.some((write) => write.in === of))
    ? around(() => commit(units), units)
    : commit(units)
  return storage
}

/** True if all that units do is to store when keys were used last. */
export const areUses = (units: readonly Unit[]): boolean => units.every(({ writes }) => writes.every((write) =>
  write.in === 'apiKeys' && write.was !== null && write.put?.record.lastUsedAt !== write.was.record.lastUsedAt))

/** The users whom units add, or those whom they change. */
export function usersIn (units: readonly Unit[], which: 'added' | 'changed'): UserRecord[] {
  const writes = units.flatMap((unit) => unit.writes)
  return writes.flatMap((write) => {
    if (write.in !== 'users' || write.put === null) return []
    return (write.was === null) === (which === 'added') ? [write.put.record] : []
  })
}

/** Has somebody else change each user just before a change of it. Returns how often that was. */
export function overtaken (storage: Storage): () => number {
  const commit = storage.commit.bind(storage)
  let count = 0
  aroundCommit(storage, 'users', async (call, [unit]) => {
    const [write] = unit?.writes ?? []
    if (write?.in === 'users' && write.put !== null && write.was !== null) {
      const { record } = write.was
      const put = { ...write.put, record: { ...record, name: `Other ${++count}`, version: record.version + 1 } }
      await commit([{ writes: [{ ...write, put }], events: [], rewrites: [] }])
    }
    return call()
  })
  return () => count
}
