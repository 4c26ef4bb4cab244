import type { ApiKeyRecord, Page, UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, plantGivenUser, plantKeptKey, plantKeptUser, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'

function freeze (user: UserRecord): UserRecord {
  Object.freeze(user.fields)
  return Object.freeze(user)
}

/** A record that reads its members from another. */
class Document {
  #members: object

  constructor (members: object) {
    this.#members = members
    for (const name of Object.keys(members)) {
      Object.defineProperty(this, name, { get: () => Reflect.get(this.#members, name), enumerable: false })
    }
  }
}

function wrapped (time: string): string {
  const seconds = Math.floor(Date.parse(time) / 1000)
  return seconds > 2_147_483_647 ? new Date((seconds | 0) * 1000).toISOString() : time
}

function withTotal<Item> (page: Page<Item>, total: unknown): Page<Item> {
  return { items: page.items, total: untyped(total) }
}

function keyWith (title: string, members: (key: ApiKeyRecord) => object): Mistake {
  return plantKeptKey(title, (key) => Object.assign({ ...key }, members(key)))
}

/** A time as clocks have it that take years of two digits for those of this century's first. */
const shortYear = (time: string): string => time.replace(/^00(\d\d)/, '19$1')

export const valuesRecords: Mistake[] = [
  plantKeptUser('times of users before the year 100 become 19xx', ({ createdAt, updatedAt, ...user }) => ({
    ...user, createdAt: shortYear(createdAt), updatedAt: shortYear(updatedAt)
  })),
  keyWith('times of API keys before the year 100 become 19xx', (key) => ({
    createdAt: shortYear(key.createdAt), expiresAt: key.expiresAt === null ? null : shortYear(key.expiresAt)
  })),
  keyWith('times of API keys after January 2038 wrap', ({ expiresAt }) => ({
    expiresAt: expiresAt === null ? null : wrapped(expiresAt)
  })),
  keyWith('times of API keys are cut to seconds', ({ expiresAt, createdAt }) => ({
    expiresAt: expiresAt?.replace(/\.\d+Z/, '.000Z') ?? null, createdAt: createdAt.replace(/\.\d+Z/, '.000Z')
  })),
  keyWith('lastUsedAt is cut to minutes', ({ lastUsedAt }) => ({
    lastUsedAt: lastUsedAt?.replace(/:\d\d\.\d+Z/, ':00.000Z') ?? null
  })),
  keyWith('an unlimited lifetime becomes 0', ({ lifetime }) => ({ lifetime: Number(lifetime) })),
  keyWith('a lifetime is at most 2147483647', ({ lifetime }) => ({
    lifetime: lifetime === null ? null : Math.min(lifetime, 2_147_483_647)
  })),
  keyWith('a lifetime comes as text', ({ lifetime }) => ({ lifetime: lifetime === null ? null : String(lifetime) })),
  keyWith('scopes come back sorted', ({ scopes }) => ({ scopes: scopes.toSorted() })),
  keyWith('scopes with a comma are split', ({ scopes }) => ({
    scopes: scopes.length === 0 ? [] : scopes.join(',').split(',')
  })),
  keyWith('scopes come in lower case', ({ scopes }) => ({ scopes: scopes.map((scope) => scope.toLowerCase()) })),
  keyWith('rotatedFrom is absent instead of null', ({ rotatedFrom }) => ({ rotatedFrom: rotatedFrom ?? undefined })),
  keyWith('lastUsedAt is an empty text instead of null', ({ lastUsedAt }) => ({ lastUsedAt: lastUsedAt ?? '' })),
  keyWith('a key without an end expires in the year 9999', ({ expiresAt }) => ({
    expiresAt: expiresAt ?? '9999-12-31T23:59:59.999Z'
  })),
  keyWith('the owner of a key is lost', () => ({ owner: undefined })),
  keyWith('the owner of a key is cut to 100 characters', ({ owner }) =>
    owner === undefined ? {} : { owner: owner.slice(0, 100) }),
  keyWith('a key without an owner has an empty one', ({ owner = '' }) => ({ owner })),
  plantKeptKey('the addresses of a key are lost', ({ addresses, ...key }) => key),
  keyWith('a key without addresses has an empty list', ({ addresses = [] }) => ({ addresses })),
  keyWith('addresses come back sorted', ({ addresses }) => addresses === undefined
    ? {}
    : { addresses: addresses.toSorted() }),
  keyWith('addresses are cut to 1,000 characters', ({ addresses }) => addresses === undefined
    ? {}
    : { addresses: addresses.join(' ').slice(0, 1000).split(' ') }),
  plantKeptKey('the own limit of a key is lost', ({ rateLimit, ...key }) => key),
  keyWith('the own limit of a key is at most 65535', ({ rateLimit }) => rateLimit === undefined
    ? {}
    : { rateLimit: { ...rateLimit, max: Math.min(rateLimit.max, 65_535) } }),
  plant('a successor works from anywhere', class extends PlainStore {
    override async rotateApiKey (...[id, { addresses, ...successor }, times]: Parameters<PlainStore['rotateApiKey']>) {
      return super.rotateApiKey(id, successor, times)
    }
  }),
  plant('a key that is listed has no addresses', class extends PlainStore {
    override async listApiKeys (...given: Parameters<PlainStore['listApiKeys']>) {
      const { items, total } = await super.listApiKeys(...given)
      return { items: items.map(({ addresses, ...key }) => key), total }
    }
  }),
  keyWith('the digest of a key is kept in lower case', ({ digest }) => ({ digest: digest.toLowerCase() })),
  keyWith('names of API keys are cut to 100 characters', ({ name }) => ({ name: name.slice(0, 100) })),
  plantGivenUser('records are frozen', freeze),
  plantGivenUser('records have getters on a class instead of members', (user) => untyped(new Document(user))),
  plantGivenUser('version is text', (user) => ({ ...user, version: untyped(String(user.version)) })),
  plantGivenUser('version is a bigint', (user) => ({ ...user, version: untyped(BigInt(user.version)) })),
  plantGivenUser('fields come as JSON text', (user) => ({ ...user, fields: untyped(JSON.stringify(user.fields)) })),
  plant('the total of users is text', class extends PlainStore {
    override usersOf (...given: Parameters<PlainStore['usersOf']>) {
      const page = super.usersOf(...given)
      return withTotal(page, String(page.total))
    }
  }),
  plant('the total of API keys is a bigint', class extends PlainStore {
    override async listApiKeys (...given: Parameters<PlainStore['listApiKeys']>) {
      const page = await super.listApiKeys(...given)
      return withTotal(page, BigInt(page.total))
    }
  }),
  plant('createUser keeps the caller\'s fields', class extends PlainStore {
    override keepUser (user: UserRecord) {
      return { ...user }
    }
  }),
  plant('createUser keeps the caller\'s whole record', class extends PlainStore {
    override keepUser (user: UserRecord) {
      return user
    }
  }),
  plant('createUser gives the stored record', class extends PlainStore {
    override addUser (...given: Parameters<PlainStore['addUser']>) {
      super.addUser(...given)
      return { user: given[1].user, replayed: false }
    }
  }),
  plant('findUser gives fields that are the store\'s', class extends PlainStore {
    override async findUser (id: string) {
      return await this.read((state) => {
        const row = this.find(state.users, id)
        return row === null ? null : { ...row.user }
      })
    }
  }),
  plant('listUsers gives the stored records', class extends PlainStore {
    override usersOf (...[state, filter, page]: Parameters<PlainStore['usersOf']>) {
      if (page.sort !== undefined) return super.usersOf(state, filter, page)
      return this.pageOf(this.matching(state, filter), page)
    }
  }),
  plant('updateUser keeps the caller\'s fields', class extends PlainStore {
    override keepChanges (changes: Parameters<PlainStore['keepChanges']>[0]) {
      return changes
    }

    override changedRow (...given: Parameters<PlainStore['changedRow']>) {
      const row = super.changedRow(...given)
      const { fields } = given[1]
      return fields === undefined ? row : { ...row, user: { ...row.user, fields } }
    }
  }),
  plant('updateUser gives fields that are the store\'s', class extends PlainStore {
    override applyUpdate (...given: Parameters<PlainStore['applyUpdate']>) {
      const { changed } = super.applyUpdate(...given)
      const [state, { user: { id } }] = given
      const { user } = state.users.get(id) ?? given[1]
      return { user: { ...user }, changed }
    }
  }),
  plant('a replay gives the record that is kept for the next one', class extends PlainStore {
    override replay (...[, first]: Parameters<PlainStore['replay']>) {
      return { user: first.user, replayed: true }
    }
  }),
  plant('createApiKey keeps the caller\'s scopes', class extends PlainStore {
    override keepKey (key: ApiKeyRecord) {
      return { ...key }
    }
  }),
  plant('findApiKeyByStart gives the stored scopes', class extends PlainStore {
    override async findApiKeyByStart (start: string) {
      return await this.read((state) => {
        const key = this.byStart(state, start)
        return key === null ? null : { ...key }
      })
    }
  }),
  plant('revokeApiKey gives the stored record', class extends PlainStore {
    override applyRevocation (...given: Parameters<PlainStore['applyRevocation']>) {
      const { key, changed } = super.applyRevocation(...given)
      return { key: given[0].apiKeys.get(key.id) ?? key, changed }
    }
  })
]
