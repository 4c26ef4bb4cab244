import type { ApiKeyRecord, Page, UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, plantJoinable, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type List = Parameters<PlainStore['listUsers']>
type Keys = Parameters<PlainStore['listApiKeys']>

/** A mistake of a store whose total is a number that its methods count up and down. */
class Counting extends PlainStore {
  counted = 0

  override async listUsers (...given: List) {
    const page = await super.listUsers(...given)
    const { emailKey, words, fields } = given[0]
    const isAll = emailKey === null && words === null && Object.keys(fields).length === 0
    return isAll ? { ...page, total: this.counted } : page
  }

  override addUser (...given: Parameters<PlainStore['addUser']>) {
    this.counted++
    return super.addUser(...given)
  }

  override removeUser (...given: Parameters<PlainStore['removeUser']>) {
    this.counted--
    return super.removeUser(...given)
  }
}

export const listsSnapshots: Mistake[] = [
  plant('the total of users grows with refusals', class extends Counting {
    override async createUser (...given: Parameters<PlainStore['createUser']>) {
      return await super.createUser(...given).catch((error: unknown) => {
        this.counted++
        throw error
      })
    }
  }),
  plant('the total of users grows with replays', class extends Counting {
    override replay (...given: Parameters<PlainStore['replay']>) {
      this.counted++
      return super.replay(...given)
    }
  }),
  plant('the total of users does not shrink with deletions', class extends Counting {
    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      this.counted++
      return super.removeUser(...given)
    }
  }),
  plant('the total of users shrinks with deletions of unknown users', class extends Counting {
    override checkDeletion (...given: Parameters<PlainStore['checkDeletion']>) {
      const row = super.checkDeletion(...given)
      if (row === null) this.counted--
      return row
    }
  }),
  plantJoinable('the total of users stays changed after a rollback', class extends Counting {}),
  plant('concurrent creations count as one in the total', class extends Counting {
    override async createUser (...given: Parameters<PlainStore['createUser']>) {
      await this.turn()
      const before = this.counted
      const creation = await super.createUser(...given)
      this.counted = before + (creation.replayed ? 0 : 1)
      return creation
    }
  }),
  plant('pages and totals of users are of two moments', class extends PlainStore {
    override async listUsers (...given: List) {
      const { items } = await super.listUsers(...given)
      const { total } = await super.listUsers(...given)
      return { items, total }
    }
  }),
  plant('totals of users are counted before the page is read', class extends PlainStore {
    override async listUsers (...given: List) {
      const { total } = await super.listUsers(...given)
      await this.turn()
      const { items } = await super.listUsers(...given)
      return { items, total }
    }
  }),
  plant('a page has holes for users that are deleted meanwhile', class extends PlainStore {
    override async listUsers (...given: List): Promise<Page<UserRecord>> {
      const { items, total } = await super.listUsers(...given)
      return { items: untyped(await Promise.all(items.map(({ id }) => this.findUser(id)))), total }
    }
  }),
  plant('a page lacks users that are deleted meanwhile and its total counts them', class extends PlainStore {
    override async listUsers (...given: List): Promise<Page<UserRecord>> {
      const { items, total } = await super.listUsers(...given)
      const found = await Promise.all(items.map(({ id }) => this.findUser(id)))
      return { items: found.filter((user) => user !== null), total }
    }
  }),
  plant('a page has users that no longer match the filter', class extends PlainStore {
    override async listUsers (...given: List): Promise<Page<UserRecord>> {
      const { items, total } = await super.listUsers(...given)
      const found = await Promise.all(items.map(({ id }) => this.findUser(id)))
      return { items: found.map((user, index) => user ?? items[index]).filter((user) => user !== undefined), total }
    }
  }),
  plant('a list does not have the last creation yet', class extends PlainStore {
    last = ''

    override addUser (...given: Parameters<PlainStore['addUser']>) {
      this.last = given[1].user.id
      return super.addUser(...given)
    }

    override matching (...given: Parameters<PlainStore['matching']>) {
      const { last } = this
      this.last = ''
      return super.matching(...given).filter(({ id }) => id !== last)
    }
  }),
  plant('lists are kept for equal requests', class extends PlainStore {
    pages = new Map<string, Page<UserRecord>>()

    override async listUsers (...given: List) {
      const request = JSON.stringify(given)
      const page = this.pages.get(request) ?? await super.listUsers(...given)
      this.pages.set(request, page)
      return structuredClone(page)
    }

    override addUser (...given: Parameters<PlainStore['addUser']>) {
      this.pages.clear()
      return super.addUser(...given)
    }
  }),
  plant('listUsers keeps the limit of the first call', class extends PlainStore {
    limit = 0

    override usersOf (...[state, filter, page]: Parameters<PlainStore['usersOf']>) {
      this.limit ||= page.limit
      return super.usersOf(state, filter, { ...page, limit: this.limit })
    }
  }),
  plant('the offset skips before the filter', class extends PlainStore {
    override usersOf (...[state, filter, page]: Parameters<PlainStore['usersOf']>) {
      const { from } = page
      const { items, total } = super.usersOf(state, filter, page)
      if (!('offset' in from)) return { items, total }
      const all = this.sort([...state.users.values()].map(({ user }) => user), page.order).slice(from.offset)
      const found = this.matching(state, filter).map(({ id }) => id)
      const users = all.filter(({ id }) => found.includes(id)).slice(0, page.limit)
      return { items: users.map((user) => this.giveUser(user)), total }
    }
  }),
  plant('the limit cuts before the filter', class extends PlainStore {
    override usersOf (...[state, filter, page]: Parameters<PlainStore['usersOf']>) {
      const { items: right, total } = super.usersOf(state, filter, page)
      if (page.sort !== undefined) return { items: right, total }
      const found = this.matching(state, filter).map(({ id }) => id)
      const { items } = this.pageOf([...state.users.values()].map(({ user }) => user), page)
      return { items: items.filter(({ id }) => found.includes(id)).map((user) => this.giveUser(user)), total }
    }
  }),
  plant('pages and totals of API keys are of two moments', class extends PlainStore {
    override async listApiKeys (...given: Keys) {
      const { items } = await super.listApiKeys(...given)
      const { total } = await super.listApiKeys(...given)
      return { items, total }
    }
  }),
  plant('listApiKeys leaves out revoked keys', class extends PlainStore {
    override listedKeys (state: State): ApiKeyRecord[] {
      return super.listedKeys(state).filter(({ revokedAt }) => revokedAt === null)
    }
  }),
  plant('listApiKeys leaves out expired keys', class extends PlainStore {
    override listedKeys (state: State): ApiKeyRecord[] {
      const now = new Date().toISOString()
      return super.listedKeys(state).filter((key) => this.isActive({ ...key, revokedAt: null }, now))
    }
  }),
  plant('listApiKeys leaves out rotated keys', class extends PlainStore {
    override listedKeys (state: State): ApiKeyRecord[] {
      const keys = super.listedKeys(state)
      return keys.filter(({ id }) => !keys.some(({ rotatedFrom }) => rotatedFrom === id))
    }
  }),
  plant('listApiKeys counts active keys only', class extends PlainStore {
    override async listApiKeys (...given: Keys) {
      const page = await super.listApiKeys(...given)
      const keys = await this.read((state) => [...state.apiKeys.values()])
      return { ...page, total: keys.filter(({ revokedAt }) => revokedAt === null).length }
    }
  }),
  plant('listApiKeys ignores the order desc', class extends PlainStore {
    override async listApiKeys (...[page]: Keys) {
      return await super.listApiKeys({ ...page, order: 'asc' })
    }
  }),
  plant('listApiKeys ignores where to start', class extends PlainStore {
    override async listApiKeys (...[page]: Keys) {
      return await super.listApiKeys({ ...page, from: { offset: 0 } })
    }
  }),
  plant('listApiKeys ignores the limit', class extends PlainStore {
    override async listApiKeys (...[page]: Keys) {
      return await super.listApiKeys({ ...page, limit: 1000 })
    }
  }),
  plant('listApiKeys ignores an after', class extends PlainStore {
    override async listApiKeys (...[page]: Keys) {
      return await super.listApiKeys('after' in page.from ? { ...page, from: { offset: 0 } } : page)
    }
  })
]
