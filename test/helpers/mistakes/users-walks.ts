import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import { isStorageError, StorageError } from '../../../lib/storage/storage-error.ts'
import type { OnUsers, PageRequest, UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, reads, turn, walks } from './users-wrappers.ts'

const NOBODY = 'users.walk: an empty store'
const PARTS = 'users.walk: everybody comes once, in parts'
const ORDERS = 'users.walk: everybody comes once in every order'
const REFUSED = 'users.walk: a part that is refused'
const SNAPSHOT = 'users.walk: all parts are of one snapshot'
const WRITERS = 'users.walk: writers do not wait'
const TWO = 'users.walk: two run'
const MORE = 'users.walk: more than two'
const CLOSED = 'close, users.walk'

/** A mistake in how the parts of a walk are given. */
const parts = (failed: string, name: string, give: (all: UserRecord[], onPart: OnUsers) => Promise<void>): Mistake =>
  walks(failed, name, async (walk, filter, order, onPart, sort) => {
    const all: UserRecord[] = []
    await walk(filter, order, async (part) => { all.push(...part) }, sort)
    await give(all, onPart)
  })

async function inParts (all: readonly UserRecord[], onPart: OnUsers): Promise<void> {
  for (let start = 0; start < all.length; start += READ_PART_MAX) {
    await onPart(all.slice(start, start + READ_PART_MAX))
  }
}

/** A mistake of a store that knows how many walks run. */
function counting (
  failed: string, name: string, limit: number, late: (running: number) => Error, frees: (error: unknown) => boolean
): Mistake {
  return reads(failed, name, ({ walk }) => {
    let running = 0
    return {
      async walk (...given) {
        if (running >= limit) throw late(running)
        running++
        await walk(...given).catch((error: unknown) => {
          if (frees(error)) running--
          throw error
        })
        running--
      }
    }
  })
}

/** Mistakes in walks. */
export const usersWalks: Mistake[] = [
  parts(NOBODY, 'an empty walk has an empty part', async (all, onPart) => {
    if (all.length === 0) await onPart([])
    await inParts(all, onPart)
  }),
  parts(PARTS, 'a walk has one part', async (all, onPart) => { if (all.length > 0) await onPart(all) }),
  parts(PARTS, 'all parts are given at the same time', async (all, onPart) => {
    const given: Array<Promise<void>> = []
    await inParts(all, async (part) => { given.push(onPart(part)) })
    await Promise.all(given)
  }),
  parts(PARTS, 'nobody waits for the last part', async (all, onPart) => {
    await inParts(all, async (part) => {
      const given = onPart(part)
      given.catch(() => {})
      if (part.length === READ_PART_MAX) await given
    })
  }),
  parts(PARTS, 'a part begins with the last user of the one before', async (all, onPart) => {
    for (let start = 0; start < all.length; start += READ_PART_MAX) {
      const from = Math.max(0, start - 1)
      await onPart(all.slice(from, from + READ_PART_MAX))
    }
  }),
  walks(ORDERS, 'everybody comes in the order of ids', (walk, filter, order, onPart) => walk(filter, order, onPart)),
  walks(ORDERS, 'a walk is of all tenants', (walk, { tenant, ...filter }, ...given) => walk(filter, ...given)),
  walks(ORDERS, 'a walk in an order has its first part', (walk, filter, order, onPart, sort) => {
    let isFirst = true
    return walk(filter, order, async (part) => {
      if (isFirst || sort === undefined) await onPart(part)
      isFirst = false
    }, sort)
  }),
  walks(REFUSED, 'a refused part ends a walk without an error', (walk, ...given) => walk(...given).catch(() => {})),
  walks(REFUSED, 'a refused part is an error of the store', (walk, ...given) => walk(...given).catch((error) => {
    throw isStorageError(error) ? error : new StorageError('fault', 'the reader failed')
  })),
  parts(REFUSED, 'a walk goes on when a part is refused', async (all, onPart) => {
    let refusal: unknown = null
    await inParts(all, (part) => onPart(part).catch((error: unknown) => { refusal = error }))
    if (refusal !== null) throw refusal
  }),
  counting(REFUSED, 'a refused walk holds its connection', 2,
    () => new StorageError('unavailable', 'two run'), () => false),
  reads(SNAPSHOT, 'each part is read when it is its turn', ({ list }) => ({
    async walk (filter, order, onPart, sort) {
      for (let offset = 0; ; offset += READ_PART_MAX) {
        const page = { order, limit: READ_PART_MAX, from: { offset } }
        const { items } = await list(filter, sort === undefined ? page : { ...page, sort })
        if (items.length === 0) return
        await onPart(items)
      }
    }
  })),
  reads(SNAPSHOT, 'a walk goes on after the last id', ({ list, walk }) => ({
    async walk (filter, order, onPart, sort) {
      if (sort !== undefined) return walk(filter, order, onPart, sort)
      let from: PageRequest['from'] = { offset: 0 }
      while (true) {
        const { items } = await list(filter, { order, limit: READ_PART_MAX, from })
        const last = items.at(-1)
        if (last === undefined) return
        await onPart(items)
        from = { after: last.id }
      }
    }
  })),
  {
    name: 'a walk locks the table',
    failed: WRITERS,
    make (storage) {
      let running = 0
      return {
        ...storage,
        async commit (units) {
          if (running > 0) throw new StorageError('unavailable', 'the table is locked')
          return storage.commit(units)
        },
        users: {
          ...storage.users,
          async walk (...given) {
            running++
            await storage.users.walk(...given).finally(() => { running-- })
          }
        }
      }
    }
  },
  reads(TWO, 'a second walk goes on in the snapshot of the first', ({ walk }) => {
    let shared: UserRecord[] | null = null
    return {
      async walk (filter, order, onPart, sort) {
        const all: UserRecord[] = shared ?? []
        if (shared === null) await walk(filter, order, async (part) => { all.push(...part) }, sort)
        shared = all
        await inParts(all, onPart).finally(() => { shared = null })
      }
    }
  }),
  counting(TWO, 'one walk runs at a time', 1, () => new StorageError('unavailable', 'one runs'), () => true),
  counting(MORE, 'a third walk is an error of the driver', 2, () => new Error('too many clients'), () => true),
  counting(MORE, 'a walk that is too many takes a place', 2, (running) => {
    if (running > 9) throw new StorageError('fault', 'broken')
    return new TypeError('no place')
  }, () => false),
  {
    name: 'a closed store ends a walk with its own error',
    failed: CLOSED,
    make (storage) {
      let isClosed = false
      return {
        ...storage,
        async close () { isClosed = true },
        users: {
          ...storage.users,
          walk: (filter, order, onPart, sort) => storage.users.walk(filter, order, async (part) => {
            await onPart(part)
            await turn()
            if (isClosed) throw new TypeError('the connection is closed')
          }, sort)
        }
      }
    }
  },
  {
    name: 'a closed store ends a walk as if it were whole',
    failed: CLOSED,
    make (storage) {
      let isClosed = false
      return {
        ...storage,
        async close () { isClosed = true },
        users: {
          ...storage.users,
          walk: (filter, order, onPart, sort) => storage.users.walk(filter, order, async (part) => {
            if (!isClosed) await onPart(part)
          }, sort)
        }
      }
    }
  }
]
