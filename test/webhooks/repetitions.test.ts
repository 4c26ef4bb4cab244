// Contract §8: webhooks that are created, and secrets that are rotated, with an Idempotency-Key.
import { test } from 'tap'
import { hooked } from './hooked.ts'

const INPUT = { url: 'http://127.0.0.1:9/', description: 'CRM' }

test('a repetition makes no second webhook or secret, and shows none', async (t) => {
  const { app, call } = await hooked(t)
  const send = async (path: string, key: string, payload: object) => {
    const answer = await call('POST', path, { headers: { 'idempotency-key': key }, payload })
    const { secret, ...body } = answer.json()
    const { location, 'idempotency-replayed': replayed } = answer.headers
    return { status: answer.statusCode, secret, body, location, replayed }
  }
  const total = async () => (await app.webhooks.list()).meta.total

  const created = await Promise.all(Array.from({ length: 8 }, () => send('/webhooks', 'a', INPUT)))
  const [first, ...more] = created.filter(({ secret }) => secret !== undefined)
  t.strictSame(more, [], 'of concurrent requests one shows the secret')
  t.match(first, { status: 201, secret: /^whsec_/, replayed: undefined })
  const repeated = { ...first, secret: undefined, replayed: 'true' }
  for (const each of created) if (each !== first) t.strictSame(each, repeated)
  t.strictSame(await send('/webhooks', 'a', INPUT), repeated)
  t.match(await send('/webhooks', 'a', { url: INPUT.url }), { status: 422, body: { code: 'idempotency_key_reused' } })
  t.match(await send('/webhooks', 'two words', INPUT), { status: 400, body: { code: 'validation_failed' } })
  t.match(await send('/webhooks', 'b', { url: 'http://10.0.0.1/' }), { status: 400 })
  t.match(await send('/webhooks', 'b', INPUT), { status: 201, secret: /^whsec_/ }, 'a refused request keeps nothing')
  t.equal(await total(), 2)

  const rotate = `/webhooks/${String(first?.body.id)}/rotate-secret`
  const rotated = await Promise.all(Array.from({ length: 8 }, () => send(rotate, 'c', { overlap: 60 })))
  const [next, ...others] = rotated.filter(({ secret }) => secret !== undefined)
  t.strictSame(others, [])
  t.match(next, { status: 200, secret: /^whsec_/, replayed: undefined })
  t.not(next?.secret, first?.secret)
  t.strictSame(await send(rotate, 'c', { overlap: 60 }), { ...next, secret: undefined, replayed: 'true' })
  t.match(await send(rotate, 'c', {}), { status: 422 })
  t.match(await send(rotate, 'd', {}), { status: 200, secret: /^whsec_/ })
  t.match(await send(rotate, 'c', { overlap: 60 }), { status: 200, secret: undefined, replayed: 'true' })
})
