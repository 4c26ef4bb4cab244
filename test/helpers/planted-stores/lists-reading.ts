import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import type { OnUsers, UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'

type Reading = Parameters<PlainStore['readUsers']>

/** A store that holds its one lock while users are read. */
class Locking extends PlainStore {
  reading: Promise<unknown> = Promise.resolve()

  override async readUsers (...given: Reading) {
    const before = this.reading
    const reading = super.readUsers(...given)
    this.reading = Promise.allSettled([before, reading])
    return await reading
  }
}

export const listsReading: Mistake[] = [
  plant('readUsers ignores the order', class extends PlainStore {
    override async readUsers (...[filter, , onPart]: Reading) {
      await super.readUsers(filter, 'asc', onPart)
    }
  }),
  plant('readUsers reads in the order of creation', class extends PlainStore {
    override readingOf (...[state, filter]: Parameters<PlainStore['readingOf']>) {
      return this.matching(state, filter).map((user) => this.giveUser(user))
    }
  }),
  plant('readUsers ignores the words', class extends PlainStore {
    override async readUsers (...[filter, order, onPart]: Reading) {
      await super.readUsers({ ...filter, words: null }, order, onPart)
    }
  }),
  plant('readUsers ignores fields', class extends PlainStore {
    override async readUsers (...[filter, order, onPart]: Reading) {
      await super.readUsers({ ...filter, fields: {} }, order, onPart)
    }
  }),
  plant('readUsers ignores the e-mail key beside fields', class extends PlainStore {
    override async readUsers (...[filter, order, onPart]: Reading) {
      const emailKey = Object.keys(filter.fields).length > 0 ? null : filter.emailKey
      await super.readUsers({ ...filter, emailKey }, order, onPart)
    }
  }),
  plant('readUsers gives a part without users', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      if (users.length === 0) await onPart([])
      await super.giveParts(users, onPart)
    }
  }),
  plant('readUsers ends with a part without users', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      await super.giveParts(users, onPart)
      if (users.length > 0) await onPart([])
    }
  }),
  plant('readUsers gives everybody in one part', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      await super.giveParts(users, onPart, Infinity)
    }
  }),
  plant('readUsers reads one part alone', class extends PlainStore {
    override readingOf (...given: Parameters<PlainStore['readingOf']>) {
      return super.readingOf(...given).slice(0, READ_PART_MAX)
    }
  }),
  plant('readUsers repeats the last user of a part', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      for (let start = 0; start < users.length; start += READ_PART_MAX) {
        await onPart(users.slice(Math.max(0, start - 1), Math.max(0, start - 1) + READ_PART_MAX))
      }
    }
  }),
  plant('readUsers gives all parts concurrently', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      const parts: Array<Promise<void>> = []
      await super.giveParts(users, async (part) => { parts.push(onPart(part)) })
      await Promise.all(parts)
    }
  }),
  plant('readUsers does not wait for the last part', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      let last = Promise.resolve()
      await super.giveParts(users, async (part) => {
        await last
        last = onPart(part)
        last.catch(() => {})
      })
    }
  }),
  plant('readUsers ends without an error when a part is refused', class extends PlainStore {
    override async readUsers (...given: Reading) {
      await super.readUsers(...given).catch(() => {})
    }
  }),
  plant('readUsers goes on when a part is refused', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      let refusal: unknown = null
      await super.giveParts(users, async (part) => {
        await onPart(part).catch((error: unknown) => { refusal = error })
      })
      if (refusal !== null) throw refusal
    }
  }),
  plant('readUsers throws an error of its own when a part is refused', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      await super.giveParts(users, async (part) => {
        await onPart(part).catch((cause: unknown) => { throw new Error('a part was refused', { cause }) })
      })
    }
  }),
  plant('readUsers keeps what it holds after a refusal', class extends PlainStore {
    held = 0

    override async readUsers (...given: Reading) {
      // It does not poll: whoever plants it would wait for the end of the process for ever.
      if (this.held === 2) await new Promise(() => {})
      this.held++
      await super.readUsers(...given)
      this.held--
    }
  }),
  plant('readUsers reads each part when it is its turn', class extends PlainStore {
    override async readUsers (...[filter, order, onPart]: Reading) {
      for (let start = 0; ; start += READ_PART_MAX) {
        const users = await this.read((state) => this.readingOf(state, filter, order))
        if (start >= users.length) return
        await onPart(users.slice(start, start + READ_PART_MAX))
      }
    }
  }),
  plant('readUsers walks by key without a snapshot', class extends PlainStore {
    override async readUsers (...[filter, order, onPart]: Reading) {
      let after: string | null = null
      while (true) {
        const from: { offset: number } | { after: string } = after === null ? { offset: 0 } : { after }
        const { items } = await this.listUsers(filter, { order, limit: READ_PART_MAX, from })
        after = items.at(-1)?.id ?? null
        if (after === null) return
        await onPart(items)
      }
    }
  }),
  plant('readUsers leaves out users that are deleted meanwhile', class extends PlainStore {
    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      await super.giveParts(users, async (part) => {
        const found = await Promise.all(part.map(({ id }) => this.findUser(id)))
        const left = part.filter((_user, i) => found[i] !== null)
        if (left.length > 0) await onPart(left)
      })
    }
  }),
  plant('writers wait for readUsers', class extends Locking {
    override async write<C, T> (...given: Parameters<typeof PlainStore.prototype.write<C, T>>) {
      await this.reading
      return await super.write(...given)
    }
  }),
  plant('a second readUsers waits for the first', class extends Locking {
    override async readUsers (...given: Reading) {
      await this.reading
      await super.readUsers(...given)
    }
  }),
  plant('close waits for readUsers', class extends Locking {
    override async close () {
      await this.reading
    }
  }),
  plant('close ends readUsers with another error', class extends PlainStore {
    closed = false

    override async giveParts (users: UserRecord[], onPart: OnUsers) {
      await super.giveParts(users, onPart)
      if (this.closed) throw new TypeError('closed')
    }

    override async close () {
      this.closed = true
    }
  }),
  plant('readUsers gives objects of a class', class extends PlainStore {
    override readingOf (...given: Parameters<PlainStore['readingOf']>) {
      class User {}
      return untyped(super.readingOf(...given).map((user) => Object.assign(new User(), user)))
    }
  }),
  plant('readUsers gives what it keeps', class extends PlainStore {
    override readingOf (...[state, filter, order]: Parameters<PlainStore['readingOf']>) {
      return this.sort(this.matching(state, filter), order)
    }
  }),
  plant('readUsers returns the number of users', class extends PlainStore {
    override async readUsers (...[filter, order, onPart]: Reading) {
      let count = 0
      await super.readUsers(filter, order, async (part) => {
        count += part.length
        await onPart(part)
      })
      return untyped(count)
    }
  })
]
