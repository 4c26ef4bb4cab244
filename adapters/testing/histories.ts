import assert from 'node:assert/strict'
import type { Idempotency, Json, UserChanges, UserRecord, VersionGuard } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { type Call, type CallOf, outcomeOf, type Reader, type Writer } from './calls.ts'
import type { Cases, Context } from './cases.ts'
import { drawnList } from './drawn-lists.ts'
import { FILTERABLE, play } from './everywhere.ts'
import { createModel, type Model } from './model.ts'
import { randomFrom, shrink } from './shrink.ts'
import { anyVersion, apiKeyOf, everyone, idOf, timeOf, userOf } from './values.ts'
import { NotWritten } from './watched-storage.ts'

const HISTORIES = 8
const CALLS = 60

// A small pool of values, so that calls collide. A sloppy comparison mistakes some of them for equal.
const ADDRESS_KEYS = ['a@x.org', 'a_@x.org', 'ab@x.org', 'a@x.orgx', 'b@x.org']
const NAME_KEYS = ['ann', 'anne', 'an%', 'a_n', 'ánn', 'ann ', 'ß', 'ss']
const FIELDS: ReadonlyArray<Readonly<Record<string, Json>>> = [
  {}, { plan: 'pro' }, { plan: 'Pro', seats: 1 }, { plan: '1', seats: 0, active: false },
  { seats: 1, plan: 'pro', active: true }, { plan: '', seats: null }, { other: [{ plan: 'pro' }], active: 'true' }
]
const FIELD_WORDS = [[], ['an'], ['zz', 's', 'anna']]

const STANDINGS: ReadonlyArray<Pick<UserChanges, 'status' | 'statusReason'>> = [
  { status: 'suspended' }, { status: 'active' }, { status: 'suspended', statusReason: 'unpaid' },
  { status: 'active', statusReason: null }, { statusReason: 'a_n' }, { statusReason: null }
]

/** Builds a history: a list of calls whose outcomes the interface defines. */
class History {
  readonly calls: Call[] = []
  readonly #model = createModel()
  readonly #random: () => number
  readonly #hasTrash: boolean
  #time = 0
  #number = 0

  constructor (random: () => number, hasTrash: boolean) {
    this.#random = random
    this.#hasTrash = hasTrash
  }

  #below (n: number): number {
    return Math.floor(this.#random() * n)
  }

  #one<Item> (items: readonly [Item, ...Item[]] | readonly Item[]): Item {
    const item = items[this.#below(items.length)]
    if (item === undefined) throw new RangeError('nothing to choose from')
    return item
  }

  #now (): string {
    return timeOf(++this.#time)
  }

  #guard (): VersionGuard {
    const version = 1 + this.#below(4)
    return this.#one([
      anyVersion,
      anyVersion,
      { ifVersion: [version], unlessVersion: [] },
      { ifVersion: null, unlessVersion: [version] },
      { ifVersion: [version, 1], unlessVersion: [2] },
      { ifVersion: [], unlessVersion: [] }
    ])
  }

  #userId (): string {
    return idOf('usr', this.#below(7))
  }

  #keyId (): string {
    return idOf('key', this.#below(Math.max(3, this.#number)))
  }

  #idempotency (): Idempotency | null {
    if (this.#below(3) === 0) return null
    const now = this.#now()
    return {
      key: this.#one(['k', 'K', 'l']).repeat(43),
      fingerprint: this.#one(['f', 'f', 'g']).repeat(43),
      now,
      expiresAt: timeOf(this.#time + 1 + this.#below(30)),
      note: null
    }
  }

  #creation (): CallOf<'createUser'> {
    const [emailKey, nameKey] = [this.#one(ADDRESS_KEYS), this.#one(NAME_KEYS)]
    const user: UserRecord = {
      ...userOf(0),
      id: this.#userId(),
      email: this.#one([emailKey, emailKey.toUpperCase()]),
      name: nameKey.replace('n', 'N'),
      fields: this.#one(FIELDS),
      status: this.#one(['active', 'active', 'suspended']),
      createdAt: this.#now()
    }
    return ['createUser', user, { emailKey, nameKey, fieldWords: this.#one(FIELD_WORDS) }, this.#idempotency()]
  }

  #update (): CallOf<'updateUser'> {
    const [emailKey, nameKey] = [this.#one(ADDRESS_KEYS), this.#one(NAME_KEYS)]
    const changes = {
      ...this.#below(2) === 0 && { name: { value: this.#one([nameKey, nameKey.toUpperCase()]), key: nameKey } },
      ...this.#below(2) === 0 && { email: { value: this.#one([emailKey, emailKey.toUpperCase()]), key: emailKey } },
      ...this.#below(2) === 0 && { fields: this.#one(FIELDS), fieldWords: this.#one(FIELD_WORDS) },
      ...this.#below(3) === 0 && this.#one(STANDINGS)
    }
    return ['updateUser', this.#userId(), changes, this.#now(), this.#guard()]
  }

  #listing (): CallOf<'listUsers' | 'listApiKeys'> {
    const one = <Item>(items: readonly Item[]) => this.#one(items)
    if (this.#below(4) > 0) return ['listUsers', ...drawnList(ADDRESS_KEYS, one, (n) => this.#below(n))]
    const from = this.#one([{ offset: this.#below(6) }, { after: this.#keyId() }])
    return ['listApiKeys', { order: this.#one(['asc', 'desc'] as const), limit: 1 + this.#below(5), from }]
  }

  #keyCall (): CallOf<'createApiKey' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'> {
    const now = this.#now()
    const scopes = this.#one([['users:read'], ['keys:write', 'users:read'], ['monkeys:write']])
    const members = { scopes, expiresAt: this.#one([null, null, timeOf(this.#time + this.#below(40))]) }
    switch (this.#below(5)) {
      case 0: return ['createApiKey', apiKeyOf(this.#number++, members), { onlyFirst: this.#below(3) === 0 }]
      case 1: {
        const [id, expiresAt] = [this.#keyId(), timeOf(this.#time + this.#below(30))]
        return ['rotateApiKey', id, apiKeyOf(this.#number++, { ...members, rotatedFrom: id }), { now, expiresAt }]
      }
      case 2: return ['revokeApiKey', this.#keyId(), now, { keepOneWith: [] }]
      case 3: return ['revokeApiKey', this.#keyId(), now, { keepOneWith: ['keys:write'] }]
      default: return ['touchApiKey', this.#keyId(), now, timeOf(Math.max(0, this.#time - this.#below(20)))]
    }
  }

  #trashCall (): Call {
    const [id, guard, now] = [this.#userId(), this.#guard(), this.#now()]
    const moment = this.#one([now, timeOf(this.#below(this.#time))])
    switch (this.#below(8)) {
      case 0: return ['deleteUser', id, guard]
      case 1: return ['purgeUser', id, guard, this.#one([null, moment])]
      case 2: return ['listDeletedUsers', { offset: this.#below(3), limit: 1 + this.#below(5) }]
      case 3: case 4: return ['restoreUser', id, moment, guard]
      default: return ['putAwayUser', id, guard, { deletedAt: moment, deletedBy: null }]
    }
  }

  #next (): Call {
    const kind = this.#below(20)
    if (kind < 5) return this.#creation()
    if (kind < 9) return this.#update()
    if (kind < 12) return this.#hasTrash ? this.#trashCall() : ['deleteUser', this.#userId(), this.#guard()]
    if (kind < 13) return ['prune', timeOf(this.#time)]
    if (kind < 15) return this.#listing()
    return this.#keyCall()
  }

  /** Adds the next call, unless it breaks two rules: a store may check either one first. */
  async add (): Promise<void> {
    const call = this.#next()
    if (await isAmbiguous(this.#model, call)) return
    await outcomeOf(this.#model, call)
    this.calls.push(call)
  }
}

async function isAmbiguous (model: Model, call: Call): Promise<boolean> {
  if (call[0] === 'restoreUser') {
    // Its id and its address are taken.
    const away = await model.findDeletedUser(call[1])
    if (away === null || await model.findUser(call[1]) === null) return false
    const filter = { ...everyone, emailKey: away.user.email.toLowerCase() }
    return (await model.listUsers(filter, { order: 'asc', limit: 1, from: { offset: 0 } })).total > 0
  }
  if (call[0] !== 'createUser') return false
  const [, { id }, { emailKey }] = call
  const { total } = await model.listUsers({ ...everyone, emailKey }, { order: 'asc', limit: 1, from: { offset: 0 } })
  if (total > 0 && await model.findUser(id) !== null) return true
  // If a repetition has the id of the first creation, a store may treat it as its own retry.
  const repeated = await outcomeOf(model.copy(), call)
  if (!('returned' in repeated)) return false
  const { user, replayed }: { user: UserRecord, replayed: boolean } = Object(repeated.returned)
  return replayed && user.id === id
}

async function isClear (calls: readonly Call[]): Promise<boolean> {
  const model = createModel()
  for (const call of calls) {
    if (await isAmbiguous(model, call)) return false
    await outcomeOf(model, call)
  }
  return true
}

async function playOn (
  { withStore }: Context,
  calls: ReadonlyArray<CallOf<Writer | Reader>>
): Promise<Error | null> {
  return withStore(async (storage: KitStorage) => {
    await storage.migrate({ filterable: FILTERABLE })
    return play(storage, createModel(), calls, { filterable: FILTERABLE, recent: 3 })
  }).then(() => null, (error: unknown) => (error instanceof Error ? error : new Error(String(error))))
}

/** Plays random histories, each on a new store. A history that fails is shortened before it is reported. */
async function playHistories (context: Context): Promise<void> {
  const hasTrash = await context.withStore(async ({ trash }) => trash !== undefined)
  for (let n = 0; n < HISTORIES; n++) {
    const history = new History(randomFrom(context.seed + n), hasTrash)
    while (history.calls.length < CALLS) await history.add()
    const failure = await playOn(context, history.calls)
    if (failure === null) continue
    if (failure instanceof NotWritten) throw failure
    let last = failure
    await shrink(history.calls, async (calls) => {
      const error = await isClear(calls) ? await playOn(context, calls) : null
      if (error !== null) last = error
      return error !== null
    })
    const error = new assert.AssertionError({ message: `with the seed ${context.seed}, ${last.message}` })
    error.cause = last
    throw error
  }
}

/** The duty that tests all methods together. */
export const historyCases: Cases = {
  'histories: random calls of every method end, and leave the records, as the interface says': async (_, context) => {
    await playHistories(context)
  }
}
