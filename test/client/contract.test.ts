// One suite for `app.users` and for the client of the same API: code moves between them.
import { type Test, test } from 'tap'
import { createClient } from '../../client/index.ts'
import type { GroupMethods, ImportResult, TenantUsers, User } from '../../lib/index.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { untyped } from '../helpers/untyped.ts'

type Names = 'create' | 'get' | 'list' | 'update' | 'delete' | 'restore' | 'listDeleted' | 'iterate' | 'revert' |
  'subject' | 'import'
interface Fields { plan?: string }
/** What both have. */
interface Both extends Pick<TenantUsers<Fields>, Names> {
  groups: GroupMethods<Fields>
  events: Pick<TenantUsers<Fields>['events'], 'list' | 'after' | 'ofUser'>
  apiKeys: Pick<TenantUsers<Fields>['apiKeys'], 'create' | 'get' | 'list' | 'rotate' | 'uses'>
  batch: (...args: Parameters<TenantUsers<Fields>['batch']>) => Promise<{
    data: Array<{ status: number, user: User<Fields> | null, error: (Error & { code: string }) | null }>
    replayed: boolean
  }>
}

const NOBODY = 'usr_01h455vb4pex5vsknk084sn02q'
const fields = { type: 'object', properties: { plan: { type: 'string', enum: ['free', 'pro'] } } }

const ways = [{ name: 'in process', isClient: false }, { name: 'by the client', isClient: true }]

async function open (t: Test, { isClient }: (typeof ways)[number]): Promise<Both> {
  const { app } = await testApp(t, {
    // Node.js opens a connection ahead where one was cut, and a server waits for it.
    server: { forceCloseConnections: true },
    fields: { schema: untyped(fields), filterable: ['plan'] },
    pageSize: { default: 2, max: 5 },
    eventLog: true,
    trash: true,
    groups: true,
    apiKeys: { routes: true, countUses: true }
  })
  if (!isClient) return app.users
  const { key } = await app.users.apiKeys.create({
    name: 'client',
    scopes: ALL_SCOPES
  })
  const baseUrl = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/`
  return createClient<Fields>({ baseUrl, key, pageSize: 3 })
}

for (const way of ways) {
  const contract = (name: string, body: (t: Test, users: Both) => Promise<void>): void => {
    test(`${way.name}: ${name}`, async (t) => body(t, await open(t, way)))
  }
  const some = async (users: Both, count: number): Promise<User[]> => {
    const made = []
    for (let n = 1; n <= count; n++) {
      const plan = n % 2 === 1 ? 'free' : 'pro'
      made.push(await users.create({ name: `User ${count - n}`, email: `u${n}@example.org`, plan }))
    }
    return made
  }

  contract('a user is made once, read, changed under a condition, deleted and restored', async (t, users) => {
    const options = { idempotencyKey: 'first' }
    const ann = await users.create({ name: ' Ann ', email: 'Ann@example.org', plan: 'pro' }, options)
    t.match(ann, { name: 'Ann', email: 'Ann@example.org', plan: 'pro', status: 'active', version: 1 })
    t.strictSame(await users.create({ name: ' Ann ', email: 'Ann@example.org', plan: 'pro' }, options), ann)
    t.strictSame(await users.get(ann.id), ann)
    await t.rejects(users.create({ name: 'A', email: 'x@example.org' }, options), { code: 'idempotency_key_reused' })
    await t.rejects(users.create({ name: 'A', email: 'ANN@example.org' }), {
      code: 'email_taken', statusCode: 409, errors: [{ pointer: '/email', code: 'taken' }]
    })
    await t.rejects(users.create(untyped({ name: 5, x: 1 })), {
      code: 'validation_failed',
      statusCode: 400,
      errors: [{ pointer: '/email' }, { pointer: '/x' }, { pointer: '/name' }]
    })
    const changed = await users.update(ann.id, { name: 'Anna', plan: 'free' }, { ifMatch: [1, 7] })
    t.match(changed, { name: 'Anna', plan: 'free', version: 2 })
    const late = { code: 'precondition_failed', statusCode: 412 }
    await t.rejects(users.update(ann.id, { name: 'X' }, { ifMatch: 1 }), late)
    await t.rejects(users.update(ann.id, { name: 'X' }, { ifNoneMatch: '*' }), late)
    await t.rejects(users.update(NOBODY, { name: 'X' }), { code: 'user_not_found', statusCode: 404 })
    await t.rejects(users.delete(ann.id, { ifMatch: 1 }), late)
    t.equal(await users.delete(ann.id, { ifMatch: 2 }), undefined)
    await t.rejects(users.get(ann.id), { code: 'user_not_found' })
    t.match(await users.listDeleted(), { data: [{ id: ann.id, version: 2 }], meta: { page: 1, total: 1 } })
    t.match(await users.restore(ann.id), { id: ann.id, name: 'Anna', version: 3 })
    const [event] = (await users.events.ofUser(ann.id, { type: 'user.updated' })).data
    t.match(await users.revert(ann.id, String(event?.id)), { name: 'Ann', plan: 'pro', version: 4 })
    t.match(await users.subject(ann.id), { user: { name: 'Ann' }, groups: [], events: { length: 5 } })
    await users.delete(ann.id, { erase: true })
    t.match((await users.events.ofUser(ann.id, { type: 'user.created' })).data, [{ data: { name: null } }])
  })

  contract('pages, filters and orders are those of the list, and an iteration has each user once', async (t, users) => {
    const all = (await some(users, 8)).map(({ id }) => id)
    t.match(await users.list(), { data: [{ id: all[0] }, { id: all[1] }], meta: { page: 1, limit: 2, total: 8 } })
    t.match(await users.list({ page: 3, limit: 3 }), { data: { length: 2 }, meta: { page: 3, limit: 3, total: 8 } })
    const ids = [all[4], all[1]].map(String)
    t.strictSame((await users.list({ ids })).data.map(({ id }) => id), ids)
    t.equal((await users.list({ 'email[in]': ['U1@example.org', 'u2@example.org', 'no@example.org'] })).meta.total, 2)
    t.equal((await users.list({ plan: 'pro', q: 'user', status: 'active' })).meta.total, 4)
    await t.rejects(users.list({ limit: 9 }), { errors: [{ parameter: 'limit', code: 'range' }] })
    const named = await users.list({ sort: 'name', limit: 5 })
    t.strictSame(named.data.map(({ name }) => name), [0, 1, 2, 3, 4].map((n) => `User ${n}`))
    const rest = await users.list({ sort: 'name', limit: 5, cursor: String(named.next) })
    t.strictSame([rest.data.map(({ name }) => name), rest.next], [['User 5', 'User 6', 'User 7'], undefined])
    async function idsOf (query: Parameters<Both['iterate']>[0], options = {}): Promise<string[]> {
      const found = []
      for await (const { id } of users.iterate(query, options)) found.push(id)
      return found
    }
    t.strictSame(await idsOf({}), all)
    t.strictSame(await idsOf({ sort: '-createdAt' }), all.toReversed())
    t.strictSame(await idsOf({ sort: 'name' }), all.toReversed())
    t.strictSame(await idsOf({ sort: '-updatedAt', plan: 'free' }), [6, 4, 2, 0].map((i) => all[i]))
    t.strictSame(await idsOf({ ids: all.slice(2, 7).toReversed() }), all.slice(2, 7).toReversed())
    t.strictSame(await idsOf({ plan: 'pro' }, { snapshot: true }), [1, 3, 5, 7].map((i) => all[i]))
    await t.rejects(users.iterate({ q: '' }).next(), { code: 'validation_failed' })
    const seen: string[] = []
    for await (const { id } of users.iterate()) {
      seen.push(id)
      if (seen.length === 3) await Promise.all(all.slice(0, 4).map((each) => users.delete(each)))
    }
    t.strictSame(seen.filter((id, i) => i < 3 || !all.slice(0, 4).includes(id)), [...all.slice(0, 3), ...all.slice(4)],
      'deletions hide nobody')
  })

  contract('a batch says of each operation what became of it', async (t, users) => {
    const [ann] = await some(users, 1)
    const id = String(ann?.id)
    const operations = [
      { op: 'create', body: { name: 'Bob', email: 'bob@example.org' } },
      { op: 'update', id, body: { name: 'Anna' }, ifMatch: 1 },
      { op: 'update', id, body: { name: 'X' }, ifMatch: [1, 9] },
      { op: 'delete', id }
    ] as const
    const { data, replayed } = await users.batch(operations, { idempotencyKey: 'b' })
    t.strictSame(data.map(({ status, user, error }) => [status, user?.name, error?.code]), [
      [201, 'Bob', undefined], [200, 'Anna', undefined], [412, undefined, 'precondition_failed'],
      [204, undefined, undefined]
    ])
    t.equal(replayed, false)
    t.equal((await users.batch(operations, { idempotencyKey: 'b' })).replayed, true)
    await t.rejects(users.batch([{ op: 'delete', id: NOBODY }], { atomic: true }), { code: 'batch_failed' })
  })

  contract('users and files are imported, each row with its result', async (t, users) => {
    const rows = ['A', '', 'C'].map((name, i) => ({ name, email: `${'abc'[i]}@example.org` }))
    const results: ImportResult[] = []
    const summary = await users.import(rows, { onResult: (result) => results.push(result) })
    t.strictSame(summary, { created: 2, updated: 0, skipped: 0, refused: 1, dryRun: false })
    t.match(results, [
      { line: 1, status: 'created', id: /^usr_/ },
      { line: 2, status: 'refused', problem: { errors: [{ pointer: '/name' }] } },
      { line: 3, status: 'created', id: /^usr_/ }
    ])
    async function * table (): AsyncGenerator<string | Uint8Array> {
      yield 'Full Name,email\nZoë,a@exam'
      yield new TextEncoder().encode('ple.org\n')
    }
    const settings = { format: 'csv', onConflict: 'update', map: 'name:Full Name' } as const
    t.match(await users.import(table(), { ...settings, dryRun: true }), { updated: 1, dryRun: true })
    t.match(await users.import(table(), settings), { created: 0, updated: 1, refused: 0 })
    t.equal((await users.list({ email: 'a@example.org' })).data[0]?.name, 'Zoë')
    await t.rejects(users.import([], { by: 'x' }), { code: 'validation_failed', errors: [{ parameter: 'by' }] })
  })

  contract('groups are made, joined and left', async (t, users) => {
    const [ann, bob] = (await some(users, 2)).map(({ id }) => id).map(String)
    const group = await users.groups.create({ name: 'Staff' })
    t.strictSame(await users.groups.get(group.id), group)
    t.match(await users.groups.changeMembers(group.id, { add: [String(ann), String(bob)] }), { members: 2 })
    t.match(await users.groups.update(group.id, { name: 'Crew' }, { ifMatch: 2 }), { name: 'Crew', version: 3 })
    await t.rejects(users.groups.delete(group.id, { ifMatch: 1 }), { code: 'precondition_failed' })
    t.match(await users.groups.members(group.id, { q: 'user', limit: 1 }), { data: [{ id: ann }], meta: { total: 2 } })
    t.match(await users.groups.of(String(bob)), { data: [{ name: 'Crew' }], meta: { total: 1 } })
    t.equal(await users.groups.delete(group.id), undefined)
    await t.rejects(users.groups.get(group.id), { code: 'group_not_found' })
    t.equal((await users.groups.list()).meta.total, 0)
  })

  contract('keys are made, rotated and counted', async (t, users) => {
    const made = await users.apiKeys.create({ name: 'job', scopes: ['users:read'] })
    t.match(made, { name: 'job', key: /^uk_/ })
    const { key, ...record } = made
    t.strictSame(await users.apiKeys.get(made.id), record)
    t.match(await users.apiKeys.rotate(made.id, { overlap: 0 }), { name: 'job', rotatedFrom: made.id, key: /^uk_/ })
    t.match(await users.apiKeys.list({ q: 'job' }), { meta: { total: 2 } })
    t.strictSame(await users.apiKeys.uses(made.id), { data: [] })
  })

  contract('the log is read, and followed from a position', async (t, users) => {
    const ended = new AbortController()
    const [ann] = await some(users, 3)
    const page = await users.events.list({ limit: 2, type: 'user.*' })
    t.equal(page.data[0]?.data.id, ann?.id)
    t.strictSame(page.meta, { limit: 2, more: true, position: page.data[1]?.id })
    const positions: string[] = []
    const seen: string[] = []
    const following = users.events.after(page.meta.position, {
      signal: ended.signal, type: 'user.*', onPosition: (position) => positions.push(position)
    })
    for await (const { type, data: { id }, id: event } of following) {
      seen.push(type)
      if (type === 'user.created') await users.update(String(ann?.id), { name: 'New' })
      if (type === 'user.updated') await users.delete(id)
      if (type !== 'user.deleted') continue
      t.equal((await users.events.list({ order: 'desc', limit: 1 })).data[0]?.id, event)
      ended.abort()
    }
    t.strictSame(seen, ['user.created', 'user.updated', 'user.deleted'])
    t.equal(positions.every((position) => /^evt_/.test(position)), true)
    await t.rejects(users.events.after(`evt_7${'z'.repeat(25)}`).next(), { code: 'position_unknown' })
  })
}
