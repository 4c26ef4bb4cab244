import { test } from 'tap'
import { createConcurrencyLimit } from '../../lib/http/concurrency-limit.ts'

/** Work that runs until it is ended. */
function pending () {
  let resolve: (value: string) => void = () => {}
  const promise = new Promise<string>((_resolve) => { resolve = _resolve })
  return { work: () => promise, resolve: (value: string) => resolve(value) }
}

const refusal = {
  code: 'storage_unavailable',
  statusCode: 503,
  message: 'Too many requests are running at the moment. Try again later.',
  headers: { 'retry-after': '1' }
}

test('refuses work above the maximum immediately, without starting it', async (t) => {
  const limited = createConcurrencyLimit(2)
  const [a, b] = [pending(), pending()]
  const running = [limited(a.work), limited(b.work)]
  let started = false
  await t.rejects(limited(async () => { started = true }), refusal)
  t.notOk(started)
  a.resolve('a')
  b.resolve('b')
  t.strictSame(await Promise.all(running), ['a', 'b'])
})

test('admits work again after other work has ended, however it ended', async (t) => {
  const limited = createConcurrencyLimit(1)
  t.equal(await limited(async () => 'result'), 'result')
  await t.rejects(limited(async () => { throw new Error('rejected') }), { message: 'rejected' })
  await t.rejects(limited(() => { throw new Error('thrown') }), { message: 'thrown' })
  const last = pending()
  const running = limited(last.work)
  await t.rejects(limited(async () => {}), refusal, 'a refusal does not lower the count')
  await t.rejects(limited(async () => {}), refusal)
  last.resolve('last')
  t.equal(await running, 'last')
  t.equal(await limited(async () => 'next'), 'next')
})

test('without a maximum all work runs', async (t) => {
  const limited = createConcurrencyLimit(undefined)
  const all = Array.from({ length: 1000 }, pending)
  const running = all.map(({ work }) => limited(work))
  for (const { resolve } of all) resolve('done')
  t.equal((await Promise.all(running)).length, 1000)
})
