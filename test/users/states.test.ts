// Contract §17: what every call does with a user in each state: its answer, and the events that it records.
import { test } from 'tap'
import type { LoggedEvent } from '../../lib/index.ts'
import { type Call, testApp } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'

/** The states of a user. Each was renamed once before it came to it. */
const STATES = ['active', 'suspended', 'put away', 'purged'] as const

interface User { id: string, email: string, event: string }
type Answers = readonly [active: unknown, suspended: unknown, putAway: unknown, purged: unknown]

const GONE = '404 user_not_found'
const NONE = ['', '', '', '']
const of = (path: string) => ({ id }: User) => `/users/${id}${path}`
const batchOf = (op: string, more: object = {}) => ({ id }: User) => ({ operations: [{ op, id, ...more }] })
const ownBody = ({ email }: User) => ({ name: 'Ann', email })

interface Row {
  name: string
  method: string
  path: (user: User) => string
  body?: (user: User) => object | string
  answers: Answers
  /** The types of the events, by state. */
  events: readonly string[]
}

const row = (
  call: string, path: Row['path'], body: Row['body'] | undefined, answers: Answers, events: readonly string[] = NONE
): Row => ({
  name: call, method: call.split(' ')[0] ?? '', path, ...(body !== undefined && { body }), answers, events
})

const imported = (row: object) => `${JSON.stringify(row)}\n`
const isAway = 'must be unique: a deleted user has it, and can be restored or purged'

const ROWS: readonly Row[] = [
  row('GET', of(''), undefined, [200, 200, GONE, GONE]),
  row('GET by address', ({ email }) => `/users?email=${email}`, undefined, [[1, 200], [1, 200], [0, 200], [0, 200]]),
  row('GET active', ({ email }) => `/users?email=${email}&status=active`, undefined,
    [[1, 200], [0, 200], [0, 200], [0, 200]]),
  row('GET events', of('/events'), undefined, [200, 200, 200, 200]),
  row('GET subject', of('/subject'), undefined, [200, 200, 200, 200]),
  row('PATCH name', of(''), () => ({ name: 'Other' }), [200, 200, GONE, GONE],
    ['user.updated', 'user.updated', '', '']),
  row('PATCH status', of(''), () => ({ status: 'active' }), [200, 200, GONE, GONE], ['', 'user.activated', '', '']),
  row('PATCH both', of(''), () => ({ status: 'active', name: 'Other' }), [200, 200, GONE, GONE],
    ['user.updated', 'user.updated user.activated', '', '']),
  row('PUT', of(''), ownBody, [200, 200, GONE, GONE], ['', 'user.activated', '', '']),
  row('DELETE', of(''), undefined, [204, 204, GONE, GONE], ['user.deleted', 'user.deleted', '', '']),
  row('DELETE for good', of('?purge=true'), undefined, [204, 204, 204, GONE],
    ['user.deleted user.purged', 'user.deleted user.purged', 'user.purged', '']),
  row('DELETE with its values', of('?erase=true'), undefined, [204, 204, 204, 204],
    ['user.deleted user.purged', 'user.deleted user.purged', 'user.purged', '']),
  row('POST restore', of('/restore'), undefined, [GONE, GONE, 200, GONE], ['', '', 'user.restored', '']),
  row('POST revert', of('/revert'), ({ event }) => ({ event }), [200, 200, GONE, GONE],
    ['user.updated', 'user.updated', '', '']),
  row('POST batch update', () => '/users/batch', batchOf('update', { body: { status: 'suspended' } }),
    [[200], [200], [GONE], [GONE]], ['user.suspended', '', '', '']),
  row('POST batch delete', () => '/users/batch', batchOf('delete'), [[204], [204], [GONE], [GONE]],
    ['user.deleted', 'user.deleted', '', '']),
  row('POST batch restore', () => '/users/batch', batchOf('restore'), [[GONE], [GONE], [200], [GONE]],
    ['', '', 'user.restored', '']),
  row('POST batch purge', () => '/users/batch', batchOf('purge'), [[204], [204], [204], [GONE]],
    ['user.deleted user.purged', 'user.deleted user.purged', 'user.purged', '']),
  row('POST an import with its id', () => '/users/import?report=all',
    ({ id, email }) => imported({ id, name: 'New', email: `new-${email}` }),
    ['/id must be unique', '/id must be unique', `/id ${isAway}`, 'created'], ['', '', '', 'user.created']),
  row('POST a dry import with its id', () => '/users/import?report=all&dryRun=true&onConflict=update&by=id',
    ({ id, email }) => imported({ id, name: 'New', email: `new-${email}` }),
    ['updated', 'updated', `/id ${isAway}`, 'created']),
  row('POST an import of its status', () => '/users/import?report=all&onConflict=update',
    ({ email }) => imported({ name: 'Ann', email, status: 'active' }),
    ['skipped', 'updated', 'created', 'created'], ['', 'user.activated', 'user.created', 'user.created']),
  row('POST an import without', () => '/users/import?report=all&onConflict=update', (user) => imported(ownBody(user)),
    ['skipped', 'skipped', 'created', 'created'], ['', '', 'user.created', 'user.created'])
]

/** Brings a new user to a state. */
async function userIn (call: Call, state: string, n: number): Promise<User> {
  const email = `user${n}@example.org`
  const { id } = (await call('POST', '/users', { payload: { name: 'Before', email } })).json()
  await call('PATCH', `/users/${id}`, { payload: { name: 'Ann' } })
  const event = (await call('GET', `/users/${id}/events`)).json().data[0].id
  if (state === 'suspended') await call('PATCH', `/users/${id}`, { payload: { status: 'suspended' } })
  if (state === 'put away') await call('DELETE', `/users/${id}`)
  if (state === 'purged') await call('DELETE', `/users/${id}?purge=true`)
  return { id, email, event }
}

/** The answer to a call, in short. */
async function answerTo (call: Call, { method, path, body }: Row, user: User): Promise<unknown> {
  const payload = body?.(user)
  const type = typeof payload === 'string' ? 'application/x-ndjson' : 'application/json'
  const { statusCode, body: text } = await call(method, path(user), {
    ...(payload !== undefined && { payload, headers: { 'content-type': type } })
  })
  if (type === 'application/x-ndjson') {
    const { status, problem } = JSON.parse(text.split('\n')[0] ?? '')
    const [fault] = problem?.errors ?? []
    return fault === undefined ? status : `${fault.pointer} ${fault.detail}`
  }
  if (text === '') return statusCode
  const { code, data, meta } = JSON.parse(text)
  const short = (status: number, problem: string | undefined) => problem === undefined ? status : `${status} ${problem}`
  if (path(user) === '/users/batch') {
    return data.map((each: { status: number, body: { code?: string } | null }) => short(each.status, each.body?.code))
  }
  return path(user).startsWith('/users?') ? [meta.total, statusCode] : short(statusCode, code)
}

test('every call answers for each state of a user, and records what it changed', async (t) => {
  const { app, call } = await testApp(t, { eventLog: true, trash: true })
  const told: string[] = []
  for (const type of [
    'user.created', 'user.updated', 'user.suspended', 'user.activated', 'user.deleted', 'user.restored', 'user.purged'
  ] as const) app.users.events.on(type, ({ id }) => { told.push(`${type} ${id}`) })
  const logged: string[] = []
  let after = 'now'
  const news = async () => {
    const all: LoggedEvent[] = []
    while (true) {
      const { data, meta } = await app.users.events.list({ after, limit: 100 })
      all.push(...data)
      after = meta.position ?? after
      if (!meta.more) break
    }
    logged.push(...all.map(({ type, id }) => `${type} ${id}`))
    return all
  }
  await news()
  let n = 0
  for (const each of ROWS) {
    for (const [i, state] of STATES.entries()) {
      const user = await userIn(call, state, n++)
      await news()
      t.strictSame(await answerTo(call, each, user), each.answers[i], `${each.name}: ${state}`)
      const events = await news()
      t.equal(events.map(({ type }) => type).join(' '), each.events[i], `events of ${each.name}: ${state}`)
      t.ok(new Set(events.map(({ data }) => Object(data).version)).size <= 1, 'they are of one version')
    }
  }
  await until('the listeners were called', () => told.length === logged.length)
  t.strictSame(told.toSorted(), logged.toSorted(), 'events in process have the ids of the log')

  for (const [i, state] of STATES.entries()) {
    const { id } = await userIn(call, state, n++)
    t.equal(await app.users.isActive(id), i === 0, state)
    const { data } = (await call('GET', '/users/deleted?limit=1')).json()
    t.equal(data[0].id === id, state === 'put away', `the list of deleted users: ${state}`)
    const { user } = (await call('GET', `/users/${id}/subject`)).json()
    const shown = user === null ? null : [user.status, 'deletedAt' in user]
    t.strictSame(shown, [['active', false], ['suspended', false], ['active', true], null][i], `subject: ${state}`)
  }
  t.equal(await app.users.isActive('x'), false)
})
