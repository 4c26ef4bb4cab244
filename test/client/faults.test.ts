// What a client makes of faults between it and the API: answers that are lost, late, refused or of somebody else.
import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Test, test } from 'tap'
import { ClientError, createClient } from '../../client/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import { testApp } from '../helpers/app.ts'
import { startProxy } from '../helpers/tcp-proxy.ts'
import { until } from '../helpers/until.ts'
import { untyped } from '../helpers/untyped.ts'

const NOBODY = 'usr_01h455vb4pex5vsknk084sn02q'

/** Deals with a request instead of the API; null: the API does. */
type Fault = (request: FastifyRequest, reply: FastifyReply) => unknown

async function served (t: Test) {
  const requests: string[] = []
  const state: { before: Fault, lose: (request: FastifyRequest) => boolean } = { before: () => null, lose: () => false }
  const { app } = await testApp(t, {
    server: { forceCloseConnections: true },
    storage: memory(),
    eventLog: true,
    openapi: false,
    before (host) {
      host.addHook('onRequest', async (request, reply) => {
        requests.push(`${request.method} ${request.url.split('?')[0]}`)
        return await state.before(request, reply) === null ? undefined : reply
      })
      host.addHook('onSend', async (request, _reply, payload) => {
        if (!state.lose(request)) return payload
        // Of a stream the first part gets through.
        if (payload instanceof Readable) return Readable.from(beginningOf(payload))
        request.raw.socket.destroy()
        return payload
      })
    }
  })
  const { key } = await app.users.apiKeys.create({
    name: 'client', scopes: ['users:read', 'users:write', 'users:delete', 'events:read']
  })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const proxy = await startProxy(port)
  t.teardown(() => proxy.close())
  const baseUrl = `http://127.0.0.1:${proxy.port}/v1`
  return { users: app.users, client: createClient({ baseUrl, key }), requests, state, proxy, key, baseUrl }
}

async function * beginningOf (payload: Readable): AsyncGenerator<unknown> {
  const { value } = await payload[Symbol.asyncIterator]().next()
  yield value
  throw new Error('the answer is cut off here')
}

const refuse = (status: number, body: object | string, retryAfter?: string): Fault => (_request, reply) => {
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  return reply.code(status).type(typeof body === 'string' ? 'text/html' : 'application/problem+json').send(body)
}

/** Answers so for the first requests, and then leaves them to the API. */
function first (count: number, fault: Fault): Fault {
  let left = count
  return (request, reply) => left-- > 0 ? fault(request, reply) : null
}

test('creations whose answers are lost make each user once', async (t) => {
  const { users, client, state, requests } = await served(t)
  let left = 10
  state.lose = ({ method }) => method === 'POST' && left-- > 0
  const made = await Promise.all(Array.from({ length: 10 }, (_, n) =>
    client.create({ name: `U${n}`, email: `u${n}@example.org` })))
  t.equal(requests.length, 20)
  t.equal((await users.list()).meta.total, 10)
  t.equal(new Set(made.map(({ id }) => id)).size, 10)
})

test('a change whose answer is lost is told, and not sent again', async (t) => {
  const { users, client, state, requests } = await served(t)
  const { id } = await users.create({ name: 'Ann', email: 'ann@example.org' })
  state.lose = ({ method }) => method === 'PATCH' || method === 'DELETE'
  await t.rejects(client.update(id, { name: 'Anna' }), { name: 'ClientError', code: 'network', statusCode: 0 })
  await t.rejects(client.delete(id), { code: 'network' })
  t.equal(requests.length, 2)
  await t.rejects(users.get(id), { code: 'user_not_found' }, 'both were made')
})

test('changes that many clients make of what is there all count', async (t) => {
  const { users, client } = await served(t)
  const { id } = await users.create({ name: 'n', email: 'ann@example.org' })
  const add = () => client.update(id, async ({ name }) => ({ name: `${name}x` }))
  await Promise.all(Array.from({ length: 20 }, add))
  t.match(await client.update(id, () => null), { name: `n${'x'.repeat(20)}`, version: 21 })
  await t.rejects(client.update(id, () => ({ name: 'y' }), { ifMatch: 3 }), { code: 'precondition_failed' })
})

test('waits as long as a busy server says, and no longer than the caller', async (t) => {
  const { client, state, requests } = await served(t)
  const busy = { code: 'rate_limited', detail: 'Slowly.', requestId: 'r1' }
  state.before = first(1, refuse(429, busy, '1'))
  t.equal((await client.list()).meta.total, 0)
  t.equal(requests.length, 2)
  state.before = refuse(429, busy, '60')
  await t.rejects(client.list(), {
    code: 'rate_limited', statusCode: 429, retryAfter: 60, message: 'Slowly.', requestId: 'r1'
  })
  t.equal(requests.length, 3, 'a minute is more than the call may take')
  state.before = first(1, refuse(429, busy))
  await t.rejects(client.import([]), { code: 'rate_limited' }, 'but no stream, which was read')
  requests.pop()
  state.before = first(1, refuse(429, busy))
  await client.update(NOBODY, {}).catch(() => {})
  t.equal(requests.length, 5, 'what was refused before anything was done is sent again, a change too')
})

test('asks again where a proxy or a closed door answers, but for changes', async (t) => {
  const { client, state, requests } = await served(t)
  state.before = first(2, refuse(502, '<h1>Bad gateway</h1>'))
  t.equal((await client.list()).meta.total, 0)
  t.equal(requests.length, 3)
  state.before = first(2, refuse(503, { code: 'storage_unavailable' }, '0'))
  await client.create({ name: 'Ann', email: 'ann@example.org' })
  t.equal(requests.length, 6)
  state.before = first(1, refuse(503, { code: 'storage_unavailable' }, '0'))
  await t.rejects(client.update(NOBODY, {}), { code: 'storage_unavailable', statusCode: 503 })
  t.equal(requests.length, 7)
})

test('answers of others are errors, and no redirection gets the key', async (t) => {
  const { client, state, key, baseUrl } = await served(t)
  state.before = refuse(404, '<p>Nothing</p>')
  await t.rejects(client.get(NOBODY), { code: 'unreadable', statusCode: 404, cause: '<p>Nothing</p>', errors: [] })
  state.before = refuse(400, { error: 'theirs' })
  await t.rejects(client.get(NOBODY), { code: 'unreadable', statusCode: 400, cause: { error: 'theirs' } })
  state.before = refuse(200, '<p>Sign in</p>')
  await t.rejects(client.get(NOBODY), { code: 'unreadable', statusCode: 200 })
  state.before = (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(409, { 'content-length': 500 })
    reply.raw.write('{"code":"email', () => reply.raw.destroy())
    return reply
  }
  await t.rejects(client.with({ triesMax: 1 }).get(NOBODY), { code: 'network' }, 'an answer that is cut is none')
  state.before = () => null
  for (const id of ['..', '.', 'deleted', 'export', '', 'a/b', NOBODY.toUpperCase()]) {
    await t.rejects(client.get(id), { code: 'user_not_found', statusCode: 404 }, id)
    await t.rejects(client.events.ofUser(id), { code: 'user_not_found' })
    await t.rejects(client.groups.removeMember(NOBODY.replace('usr', 'grp'), id), { code: 'group_not_found' })
    await t.rejects(client.apiKeys.revoke(id), { code: 'api_key_not_found' })
  }
  t.throws(() => createClient(untyped({ key })), TypeError)
  let asked = 0
  state.before = ({ url }, reply) => {
    if (url.startsWith('/else')) asked++
    return reply.redirect('/else')
  }
  await t.rejects(client.get(NOBODY), { code: 'unreadable' })
  t.equal(asked, 0)
  await t.rejects(createClient({ baseUrl, key: `${key}\n` }).get(NOBODY), { code: 'invalid_api_key', statusCode: 401 })
  const keyless = createClient({ baseUrl, key: async () => { throw new RangeError('no key') } })
  await t.rejects(keyless.get(NOBODY), RangeError)
})

test('a call ends in time, or when its caller ends it, and leaves nothing behind', async (t) => {
  const { client, proxy } = await served(t)
  const { signal } = new AbortController()
  await client.with({ signal }).list()
  proxy.freeze()
  await t.rejects(client.with({ timeoutMs: 50, signal }).list(), { code: 'timeout', statusCode: 0 })
  t.strictSame(getEventListeners(signal, 'abort'), [])
  const ended = new AbortController()
  const waiting = client.with({ signal: ended.signal, timeoutMs: Infinity }).list()
  ended.abort(new RangeError('enough'))
  await t.rejects(waiting, RangeError)
  await t.rejects(client.with({ signal: ended.signal }).list(), RangeError)
  proxy.close()
  const refused = await client.with({ timeoutMs: 300 }).list().catch((error: unknown) => error)
  t.ok(refused instanceof ClientError && ['network', 'timeout'].includes(refused.code))
})

test('exports and imports that are cut off are errors, and what was imported is kept', async (t) => {
  const { client, users, state, proxy } = await served(t)
  await users.import(Array.from({ length: 3000 }, (_, n) => ({ name: `User ${n}`, email: `u${n}@example.org` })))
  const whole = await new Response(await client.export({ format: 'csv', columns: 'name,email', q: 'user' })).text()
  t.equal(whole.trim().split('\n').length, 3001)
  state.lose = ({ url }) => url.includes('/export')
  await t.rejects(async () => new Response(await client.export()).text(), { code: 'network' })
  const walk = client.iterate({}, { snapshot: true })
  await t.rejects(async () => { while ((await walk.next()).done !== true); }, { code: 'network' })
  async function * rows () {
    for (let n = 0; n < 200; n++) yield { name: 'New', email: `new${n}@example.org` }
    await until('the first rows are imported', async () => (await users.list({ q: 'new' })).meta.total > 0)
    proxy.close()
    yield { name: 'Last', email: 'last@example.org' }
  }
  await t.rejects(client.import(rows()), { code: 'network' })
  await proxy.open()
  state.lose = () => false
  async function * broken () {
    yield { name: 'First', email: 'first@example.org' }
    throw new RangeError('the source is broken')
  }
  await t.rejects(client.import(broken()), RangeError, 'an error of the source is that')
  state.before = refuse(200, '<p>Sign in</p>')
  await t.rejects(client.export(), { code: 'unreadable' })
  await t.rejects(client.import(new Blob(['{}\n']), { format: 'ndjson' }), { code: 'unreadable' })
  t.ok((await users.list({ q: 'new' })).meta.total > 0)
})

test('a reader of events gets each once, over connections that break, and by pages', async (t) => {
  const { client, users, state, proxy, key, baseUrl } = await served(t)
  const stored: Array<{ position: string, count: number }> = []
  const seen: string[] = []
  async function read (from: string | null, reader: typeof client, count: number): Promise<string[]> {
    const ended = new AbortController()
    seen.length = 0
    const onPosition = (at: string) => stored.push({ position: at, count: seen.length })
    const options = { signal: ended.signal, type: 'user.created', onPosition } as const
    for await (const { data: { name } } of reader.events.after(from, options)) {
      seen.push(String(name))
      if (seen.length === count) ended.abort()
    }
    return [...seen]
  }
  const names = Array.from({ length: 30 }, (_, n) => `User ${n}`)
  const { meta: { position } } = await users.events.list({ after: 'now' })
  const reading = read(position ?? null, client, names.length)
  for (const [n, name] of names.entries()) {
    await users.create({ name, email: `u${n}@example.org` })
    await until('the reader has it', () => seen.length === n + 1)
    if (n % 10 !== 7) continue
    proxy.close()
    await proxy.open()
  }
  t.strictSame(await reading, names)
  const [, { position: later, count } = { position: null, count: 0 }] = stored
  t.strictSame(await read(later, client, names.length - count), names.slice(count), 'who comes again goes on')
  const last = (await users.events.list({ order: 'desc', limit: 1 })).data[0]?.id
  // An answer that ends, as by a proxy that closes, behind the id of an event and before the event.
  state.before = first(1, (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).end(`id: ${last}\n`)
    return reply
  })
  t.strictSame(await read(position ?? null, client, names.length), names, 'an event that was cut off comes again')
  const pages = createClient({ baseUrl, key, pollMs: 20 })
  t.strictSame(await read(position ?? null, pages, names.length), names)
  await t.rejects(read('evt_01h455vb4pex5vsknk084sn02q', pages, 1), { code: /position_unknown|events_expired/ })
})
