// A storage that throws or returns what it must not: each answer is a 500 or a 503 that reveals nothing.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'

const CANARY = 'canary-4711@example.org'

const failures: Array<[name: string, thrown: unknown, status: number, code: string, logged: RegExp]> = [
  [
    'an error with a value in its message',
    Object.assign(new Error(`insert into users values ('${CANARY}')`), { code: 'E1', detail: CANARY }),
    500, 'internal', /"code":"fault","driverCode":"E1".*the storage threw an unexpected Error/
  ],
  ['a string', CANARY, 500, 'internal', /the storage threw an unexpected string/],
  ['undefined', undefined, 500, 'internal', /the storage threw an unexpected undefined/],
  [
    'a fault', new StorageError('fault', 'the database refused a statement', { driverCode: '42601' }),
    500, 'internal', /"driverCode":"42601"/
  ],
  [
    'a schema that is behind', new StorageError('schema_behind', 'call storage.open({ migrate: true })'),
    500, 'internal', /schema_behind/
  ],
  [
    'unavailable', new StorageError('unavailable', 'busy', { driverCode: 'SQLITE_BUSY' }),
    503, 'storage_unavailable', /"code":"unavailable","driverCode":"SQLITE_BUSY"/
  ],
  [
    'a storage error of another copy of the package',
    Object.assign(new Error('busy'), { name: 'StorageError', code: 'unavailable' }),
    503, 'storage_unavailable', /"code":"unavailable"/
  ]
]

for (const [name, thrown, status, code, logged] of failures) {
  test(`a storage that throws ${name} is answered with ${status}, and reveals no value`, async (t) => {
    const log = captureLog()
    const storage = memory()
    const { call, app } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
    const fail = async () => {
      throw thrown
    }
    Object.assign(storage, { commit: fail })
    // A read may also throw before it has a promise.
    Object.assign(storage.users, { find: fail, list: () => { throw thrown } })
    const id = 'usr_01h455vb4pex5vsknk084sn02q'
    for (const [method, path, payload] of [
      ['GET', '/users'],
      ['GET', `/users/${id}`],
      ['POST', '/users', { name: 'A', email: CANARY }],
      ['PATCH', `/users/${id}`, { email: CANARY }],
      ['DELETE', `/users/${id}`]
    ] as const) {
      const response = await call(method, path, { ...(payload !== undefined && { payload }) })
      t.match(response.json(), { status, code }, `${method} ${path}`)
      t.equal(response.headers['retry-after'], status === 503 ? '5' : undefined)
      t.notMatch(response.body, CANARY)
    }
    t.match(log.text(), logged)
    t.match(log.text(), /"reqId":"req-1"/)
    t.notMatch(log.text(), CANARY)
    await t.rejects(app.users.get(id), { name: 'UsersError', code, statusCode: status })
    await t.rejects(app.users.list(), { name: 'UsersError', code, statusCode: status })
  })
}

test('a storage that returns values of a wrong type does not end the process', async (t) => {
  const log = captureLog()
  const storage = memory()
  const { call } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
  for (const nonsense of [undefined, 5, 'x', []]) {
    const answer = async () => nonsense
    Object.assign(storage, { commit: answer })
    Object.assign(storage.users, { find: answer, list: answer })
    for (const [method, path] of [
      ['GET', '/users'],
      ['PATCH', '/users/usr_01h455vb4pex5vsknk084sn02q']
    ] as const) {
      const response = await call(method, path, method === 'PATCH' ? { payload: {} } : {})
      t.equal(response.statusCode, 500, `${method} ${String(nonsense)}`)
    }
  }
})

test('answers hold no members that the storage adds to a user', async (t) => {
  const storage = memory()
  const { call, app } = await testApp(t, { storage })
  const { id } = await app.users.create({ name: 'A', email: 'a@b.co' })
  const { find, list } = storage.users
  const secret = { secret: CANARY, toJSON: () => CANARY }
  storage.users.find = async (id) => Object.assign(Object(await find(id)), secret)
  storage.users.list = async (filter, page) => {
    const { items, total } = await list(filter, page)
    return { items: items.map((item) => Object.assign(item, secret)), total }
  }
  for (const path of ['/users', `/users/${id}`]) t.notMatch((await call('GET', path)).body, CANARY)
})
