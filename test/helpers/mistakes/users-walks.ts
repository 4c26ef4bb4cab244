import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { OnUsers, UserRecord } from '../../../lib/storage/storage.ts'
import { reads, walks } from './users-wrappers.ts'
import { type Mistake, store } from './wrappers.ts'

const UNAVAILABLE = new StorageError('unavailable', 'others are at work')

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

/** A mistake of a store that knows how many walks run. `frees`: a walk that fails makes room for another. */
function counting (failed: string, name: string, limit: number, late: Error, { frees = true } = {}): Mistake {
  return reads(failed, name, ({ walk }) => {
    let running = 0
    return {
      async walk (...given) {
        if (running >= limit) throw late
        running++
        await walk(...given).catch((error: unknown) => {
          if (frees) running--
          throw error
        })
        running--
      }
    }
  })
}

/** Mistakes in walks. */
export const usersWalks: Mistake[] = [
  parts('users.walk: an empty store', 'an empty walk has an empty part', async (all, onPart) => {
    if (all.length === 0) await onPart([])
    await inParts(all, onPart)
  }),
  parts('users.walk: everybody comes once, in parts', 'all parts are given at the same time', async (all, onPart) => {
    const given: Array<Promise<void>> = []
    await inParts(all, async (part) => { given.push(onPart(part)) })
    await Promise.all(given)
  }),
  walks('users.walk: everybody comes once in every order', 'a walk is of all tenants',
    (walk, { tenant, ...filter }, ...given) => walk(filter, ...given)),
  parts('users.walk: a part that is refused', 'a walk goes on when a part is refused', async (all, onPart) => {
    let refusal: unknown = null
    await inParts(all, (part) => onPart(part).catch((error: unknown) => { refusal = error }))
    if (refusal !== null) throw refusal
  }),
  reads('users.walk: all parts are of one snapshot', 'each part is read when it is its turn', ({ list }) => ({
    async walk (filter, order, onPart, sort) {
      for (let offset = 0; ; offset += READ_PART_MAX) {
        const page = { order, limit: READ_PART_MAX, from: { offset } }
        const { items } = await list(filter, sort === undefined ? page : { ...page, sort })
        if (items.length === 0) return
        await onPart(items)
      }
    }
  })),
  store('users.walk: writers do not wait', 'a walk locks the table', (storage) => {
    let running = 0
    return {
      async commit (units) {
        if (running > 0) throw UNAVAILABLE
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
  }),
  counting('users.walk: two run', 'one walk runs at a time', 1, UNAVAILABLE),
  counting('users.walk: more than two', 'a third walk is an error of the driver', 2, new Error('too many clients')),
  store('close, users.walk', 'a closed store ends a walk as if it were whole', ({ users }) => {
    let isClosed = false
    return {
      async close () { isClosed = true },
      users: {
        ...users,
        walk: (filter, order, onPart, sort) =>
          users.walk(filter, order, async (part) => { if (!isClosed) await onPart(part) }, sort)
      }
    }
  })
]
