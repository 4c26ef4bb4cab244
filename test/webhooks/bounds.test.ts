// What webhooks use together is bounded, and nobody can take all of it.
import type { LookupFunction } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { test, type Test } from 'tap'
import { createGate, sharesOf } from '../../lib/webhooks/bounds.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { createTargets } from '../../lib/webhooks/targets.ts'
import { testApp } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'
import { type Receiver, startReceiver } from '../helpers/webhook-receiver.ts'
import { hooked, LOOPBACK, user } from './hooked.ts'

/** A receiver that answers nobody, until it is told to. */
async function startHanging (t: Test) {
  const receiver = await startReceiver(t)
  const waiting: Array<() => void> = []
  receiver.answer = (response) => waiting.push(() => { response.writeHead(204).end() })
  return Object.assign(receiver, { answerOne: () => waiting.shift()?.() })
}

const countOf = (receivers: Receiver[]) => receivers.reduce((sum, { received }) => sum + received.length, 0)

test('many endpoints at a receiver that hangs share few places, and a healthy one gets everything', async (t) => {
  const { app } = await hooked(t, { maxInFlight: 20 })
  const [hanging, healthy] = [await startHanging(t), await startReceiver(t)]
  for (let n = 0; n < 12; n++) await app.webhooks.create({ url: hanging.url })
  await app.webhooks.create({ url: healthy.url })
  for (let n = 0; n < 10; n++) await app.users.create(user(n))
  await until('the healthy one has all', () => healthy.received.length === 10)
  t.equal(hanging.received.length, 4, 'a quarter of the 16 places of attempts')
})

test('the backlog of an endpoint that hangs hides no delivery of others', async (t) => {
  const { app } = await hooked(t)
  const hanging = await startHanging(t)
  await app.webhooks.create({ url: hanging.url })
  for (let n = 0; n < 120; n++) await app.users.create(user(n))
  await until('it has its attempts', () => hanging.received.length === 5)
  const receivers = await Promise.all(Array.from({ length: 3 }, () => startReceiver(t)))
  for (const { url } of receivers) await app.webhooks.create({ url })
  for (let n = 120; n < 130; n++) await app.users.create(user(n))
  await until('the others have all', () => receivers.every(({ received }) => received.length === 10))
  t.equal(hanging.received.length, 5)
})

test('many receivers that hang leave half of the places to those that were quick, and no warning', async (t) => {
  const warnings: string[] = []
  const note = ({ name }: Error) => { warnings.push(name) }
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const { app } = await hooked(t, { maxInFlight: 30 })
  const healthy = await startReceiver(t)
  await app.webhooks.create({ url: healthy.url })
  await app.users.create(user(0))
  await until('the healthy one was quick', () => healthy.received.length === 1)
  const hanging = await Promise.all(Array.from({ length: 24 }, () => startHanging(t)))
  for (const { url } of hanging) await app.webhooks.create({ url })
  for (let n = 1; n < 6; n++) await app.users.create(user(n))
  await until('the others have their places', () => countOf(hanging) === 12)
  await until('the healthy one has all', () => healthy.received.length === 6)
  t.equal(countOf(hanging), 12, 'half of the 24 places of attempts')
  await turn()
  t.strictSame(warnings, [], 'none of too many listeners')
})

test('endpoints take turns: with one place each gets everything', async (t) => {
  const { app } = await hooked(t, { maxInFlight: 2 })
  const receivers = await Promise.all(Array.from({ length: 3 }, () => startHanging(t)))
  for (const { url } of receivers) await app.webhooks.create({ url })
  for (let n = 0; n < 2; n++) await app.users.create(user(n))
  for (let round = 1; round <= 2; round++) {
    for (let n = 1; n <= 3; n++) {
      await until('one has an attempt', () => countOf(receivers) === 3 * (round - 1) + n)
      for (const each of receivers) each.answerOne()
    }
    t.strictSame(receivers.map(({ received }) => received.length), [round, round, round])
  }
})

test('a caller whose test hangs waits with the next one, while others and the API go on', async (t) => {
  const { app, call } = await hooked(t, { maxInFlight: 10 })
  const [hanging, healthy] = [await startHanging(t), await startReceiver(t)]
  const slow = await app.webhooks.create({ url: hanging.url, types: ['user.*'] })
  const fast = await app.webhooks.create({ url: healthy.url, types: ['user.*'] })
  const { key } = await app.users.apiKeys.create({ name: 'other', scopes: ['webhooks:read', 'webhooks:write'] })
  const first = call('POST', `/webhooks/${slow.id}/test`)
  const second = call('POST', `/webhooks/${slow.id}/test`)
  await until('the first test was sent', () => hanging.received.length === 1)
  const headers = { authorization: `Bearer ${key}` }
  t.match((await call('POST', `/webhooks/${fast.id}/test`, { headers })).json(), { status: 'succeeded' })
  t.equal((await call('GET', '/users')).statusCode, 200)
  t.equal(hanging.received.length, 1)
  hanging.answerOne()
  t.match((await first).json(), { status: 'succeeded' })
  await until('the second test was sent', () => hanging.received.length === 2)
  hanging.answerOne()
  t.match((await second).json(), { status: 'succeeded' })
})

test('a caller of another tenant with the same name has a turn of its own', async (t) => {
  const keys = { acme: 'acme-static-key-of-at-least-32-characters', beta: 'beta-static-key-of-at-least-32-characters' }
  const scopes = ['webhooks:read', 'webhooks:write'] as const
  const { app, call } = await testApp(t, {
    eventLog: true,
    tenants: true,
    apiKeys: { static: Object.entries(keys).map(([tenant, key]) => ({ key, name: 'backend', scopes, tenant })) }
  })
  await app.register(webhooks, { ...LOOPBACK, maxInFlight: 10 })
  await app.ready()
  const [hanging, healthy] = [await startHanging(t), await startReceiver(t)]
  const slow = await app.webhooks.tenant('acme').create({ url: hanging.url })
  const fast = await app.webhooks.tenant('beta').create({ url: healthy.url })
  const tested = (key: string, id: string) =>
    call('POST', `/webhooks/${id}/test`, { headers: { authorization: `Bearer ${key}` } })
  const first = tested(keys.acme, slow.id)
  await until('the first test was sent', () => hanging.received.length === 1)
  t.match((await tested(keys.beta, fast.id)).json(), { status: 'succeeded' })
  hanging.answerOne()
  t.match((await first).json(), { status: 'succeeded' })
})

test('names that resolve slowly make no healthy receiver fail', async (t) => {
  const held: Array<() => void> = []
  const lookup: LookupFunction = (name, _options, callback) => {
    const answer = () => callback(null, '127.0.0.1', 4)
    if (name === 'healthy.test') answer()
    else held.push(answer)
  }
  const { app, call } = await hooked(t, { lookup })
  const healthy = await startReceiver(t)
  const url = healthy.url.replace('127.0.0.1', 'healthy.test')
  const { id } = await app.webhooks.create({ url })
  const creations = Array.from({ length: 4 }, (_, n) =>
    call('POST', '/webhooks', { payload: { url: url.replace('healthy', `slow-${n}`), enabled: false } }))
  await until('a name is resolved', () => held.length === 1)
  for (let n = 0; n < 5; n++) await app.users.create(user(n))
  await until('all came', () => healthy.received.length === 5)
  await until('all are kept', async () =>
    (await app.webhooks.deliveries(id)).data.every(({ status, attempts }) =>
      status === 'succeeded' && attempts.length === 1))
  t.equal(held.length, 1, 'a caller has one name resolved at a time')
  for (const creation of creations) {
    await until('the next name is resolved', () => held.length === 1)
    held.pop()?.()
    t.equal((await creation).statusCode, 201)
  }
})

test('a creation whose name others kept waiting is 503, and not a wrong URL', async (t) => {
  const lookup: LookupFunction = () => {}
  const targets = createTargets({ allowHttp: false, allowedNetworks: [], lookup, resolveMs: 200 })
  const urls = ['https://a.test/', 'https://b.test/']
  const [first, second] = await Promise.allSettled(urls.map((url) => targets.check(url, 'x')))
  t.match(first, { reason: { code: 'url_not_allowed' } })
  t.match(second, { reason: { code: 'storage_unavailable', statusCode: 503 } })
})

test('there are at most as many webhooks as there may be, however they are created', async (t) => {
  const { app, call } = await hooked(t, { maxWebhooks: 3 })
  const payload = { url: 'http://127.0.0.1:1/' }
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '/webhooks', { payload })))
  t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 201, 201, 409, 409, 409, 409, 409])
  const refused = answers.find(({ statusCode }) => statusCode === 409)
  t.match(refused?.json(), { code: 'too_many_webhooks' })
  await t.rejects(app.webhooks.create(payload), { code: 'too_many_webhooks' })
  const { data: [first] } = await app.webhooks.list()
  await app.webhooks.delete(String(first?.id))
  t.match(await app.webhooks.create(payload), { url: payload.url })
})

test('each of the shares is there, however few may run', async (t) => {
  for (const [total, attempts, unproven, receiver, requests, caller] of [
    [2, 1, 1, 1, 1, 1], [4, 3, 1, 1, 1, 1], [10, 8, 4, 2, 2, 1], [50, 40, 20, 10, 10, 5]
  ]) t.strictSame(sharesOf(Number(total)), { attempts, unproven, receiver, requests, caller })
})

test('the gate refuses what gets no place in time, and gives a place that is left to the next one', async (t) => {
  const gate = createGate({ ...sharesOf(10), requests: 2, caller: 1 }, 100)
  const ends: Array<() => void> = []
  const work = () => new Promise<string>((resolve) => ends.push(() => resolve('done')))
  const a = gate('a', work)
  const refused = { code: 'storage_unavailable', headers: { 'retry-after': '5' } }
  await t.rejects(gate('a', work), refused, 'of one caller')
  const b = gate('b', work)
  await t.rejects(gate('c', work), refused, 'of all')
  const next = gate('c', work)
  t.equal(ends.length, 2)
  ends[0]?.()
  t.equal(await a, 'done')
  await turn()
  for (const end of ends) end()
  t.strictSame(await Promise.all([b, next]), ['done', 'done'])
  await t.rejects(gate('a', () => Promise.reject(new Error('x'))), { message: 'x' })
  t.equal(await gate('a', async () => 'again'), 'again', 'a failure leaves its place')
})
