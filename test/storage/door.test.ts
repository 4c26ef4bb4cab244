// The door of a store: every call is told by the name of its method, and refused while the store is not open.
import { tracingChannel } from 'node:diagnostics_channel'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { doorOf } from '../../lib/storage/door.ts'
import { repositoryIn, repositoryOf } from '../../lib/storage/repository.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { everyone, firstPage, timeOf, userOf } from '../helpers/records.ts'
import { addUser } from '../helpers/writes.ts'

const EVENTS = { after: null, limit: 1, types: null }
/** A store whose standbys are itself. */
const replicated = (): Storage => {
  const storage = memory()
  const reads = async () => ({ ...storage.users, seen: async () => 'here' })
  return { ...storage, server: { standbys: { position: async () => 'here', reads, watch () {} } } }
}

const NOTHING = { of: { subject: userOf(1).id }, make: <Event>(event: Event): Event => event }

/** A call of each method. */
const CALLS: Record<string, (storage: Storage) => Promise<unknown>> = {
  open: (storage) => storage.open(),
  commit: (storage) => storage.commit([]),
  find: (storage) => storage.find('users', []),
  list: (storage) => storage.list('apiKeys', { page: firstPage() }),
  'users.find': ({ users }) => users.find(userOf(1).id),
  'users.list': ({ users }) => users.list(everyone, firstPage()),
  'users.walk': ({ users }) => users.walk(everyone, 'asc', async () => {}),
  listTenants: (storage) => storage.listTenants(firstPage()),
  'log.read': ({ log }) => log.read(EVENTS),
  'log.history': ({ log }) => log.history(userOf(1).id, { offset: 0, limit: 1 }),
  'log.find': ({ log }) => log.find('evt_x'),
  'log.before': ({ log }) => log.before('evt_x'),
  'log.rewrite': ({ log }) => log.rewrite(NOTHING, 1),
  'log.prune': ({ log }) => log.prune(timeOf(1), 1),
  'log.pruned': ({ log }) => log.pruned()
}

test('a standby is not read before the store is open', async (t) => {
  const { standbys, refuseCalls } = doorOf(replicated())
  const allow = refuseCalls()
  await t.rejects(async () => standbys?.reads(), { code: 'unavailable', message: /^the storage is not open yet/ })
  t.equal(await standbys?.position(), 'here')
  allow()
  t.equal(await (await standbys?.reads())?.find(userOf(1).id), null)
})

test('every call is told by its name', async (t) => {
  const storage = memory()
  const door = doorOf(storage)
  const told: object[] = []
  const subscriber = {
    start () {}, end () {}, asyncStart () {}, error () {}, asyncEnd: (trace: object) => { told.push({ ...trace }) }
  }
  const channel = tracingChannel('fastify-users:storage')
  channel.subscribe(subscriber)
  t.teardown(() => channel.unsubscribe(subscriber))
  for (const call of Object.values(CALLS)) await call(door)
  t.strictSame(told, Object.keys(CALLS).map((method) => ({ storage: 'memory', method, result: undefined })))
  storage.users.list = async () => { throw new TypeError('a mistake') }
  await t.rejects(door.users.list(everyone, firstPage()))
  t.match(told.at(-1), { method: 'users.list', error: { message: /mistake|unexpected/ } })
})

test('every call is refused until the store is open for all who wait, and closing is not', async (t) => {
  const door = doorOf(replicated())
  const allows = [door.refuseCalls(), door.refuseCalls()]
  for (const allow of allows) {
    for (const [method, call] of Object.entries(CALLS)) {
      await t.rejects(call(door), { code: 'unavailable', message: /^the storage is not open yet/ }, method)
    }
    await door.close()
    allow()
  }
  for (const [method, call] of Object.entries(CALLS)) await t.resolves(call(door), method)
})

test('a store has one door and one repository, whoever asks, and a transaction one of its own', (t) => {
  const storage = memory()
  t.equal(doorOf(storage), doorOf(storage))
  t.equal(repositoryOf(storage), repositoryOf(storage))
  t.equal(repositoryOf(storage).storage, doorOf(storage))
  const joined = { ...storage, afterCommit () {} }
  t.not(repositoryIn(joined), repositoryIn(joined))
  t.end()
})

test('what a store lacks its door lacks, and methods are called on their store', async (t) => {
  t.strictSame(Object.keys(memory()).filter((name) => !(name in doorOf(memory()))), [])
  for (const name of ['join', 'watch', 'server']) t.notOk(name in doorOf(memory()), name)
  class Users {
    #asked = 0
    readonly #users = memory().users
    get asked (): number { return this.#asked }
    find (id: string) {
      this.#asked++
      return this.#users.find(id)
    }

    list: Storage['users']['list'] = (...args) => this.#users.list(...args)
    walk: Storage['users']['walk'] = (...args) => this.#users.walk(...args)
  }
  const users = new Users()
  const listening = new Set<() => void>()
  const server = { concurrency: 3 }
  const storage: Storage = {
    ...memory(),
    users,
    server,
    watch (listener) {
      if (this !== storage) throw new TypeError('it is called on another object')
      listening.add(listener)
      return () => { listening.delete(listener) }
    }
  }
  const door = doorOf(storage)
  t.equal(await door.users.find(userOf(1).id), null)
  t.equal(users.asked, 1)
  const joined = repositoryIn({ ...storage, afterCommit () {} })
  t.equal(await joined.users.find(userOf(1).id), null)
  t.equal(users.asked, 2, 'also inside a transaction')
  t.equal(door.server, server)
  const stop = door.watch?.(() => {})
  t.equal(listening.size, 1)
  stop?.()
  t.equal(listening.size, 0)
  await addUser(storage, userOf(2))
  t.equal((await repositoryOf(storage).users.list(everyone, firstPage())).total, 0, 'it lists what its users have')
})
