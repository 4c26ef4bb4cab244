// Concurrent requests over real sockets: exactly one of them succeeds, on every storage.
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { listen } from '../helpers/raw.ts'
import { stores } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const N = 20

for (const store of stores) {
  test(`of ${N} concurrent writes of one user exactly one succeeds, on ${store.name}`, async (t) => {
    const { app, key } = await testApp(t, { storage: await store.create(t) })
    const base = `http://127.0.0.1:${await listen(app)}/v1/users`
    const send = async (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers
        },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const text = await response.text()
      const json = text === '' ? undefined : JSON.parse(text)
      return { status: response.status, json, etag: response.headers.get('etag') }
    }
    const many = <Value>(call: (i: number) => Promise<Value>) =>
      Promise.all(Array.from({ length: N }, (_, i) => call(i)))
    const tally = (answers: Array<{ status: number }>) => answers.reduce<Record<string, number>>(
      (sum, { status }) => ({ ...sum, [status]: (sum[status] ?? 0) + 1 }), {})

    const creates = await many((i) =>
      send('POST', base, { name: `C${i}`, email: i % 2 === 0 ? 'one@example.org' : 'ONE@EXAMPLE.ORG' }))
    t.strictSame(tally(creates), { 201: 1, 409: N - 1 })
    t.ok(creates.every(({ status, json }) => status === 201 || json.code === 'email_taken'))
    const winner = creates.find(({ status }) => status === 201)?.json
    t.equal((await send('GET', `${base}?email=one@example.org`)).json.meta.total, 1)

    const updates = await many((i) => send('PATCH', `${base}/${winner.id}`, { name: `U${i}` }, { 'if-match': '"1"' }))
    t.strictSame(tally(updates), { 200: 1, 412: N - 1 })
    const updated = updates.find(({ status }) => status === 200)
    t.equal(updated?.etag, '"2"')
    t.strictSame((await send('GET', `${base}/${winner.id}`)).json, updated?.json)

    const deletes = await many(() => send('DELETE', `${base}/${winner.id}`))
    t.strictSame(tally(deletes), { 204: 1, 404: N - 1 })

    // Increments under If-Match, each retried until it succeeds: none is lost.
    const clients = 8
    const { json: { id } } = await send('POST', base, { name: '0', email: 'counter@example.org' })
    await Promise.all(Array.from({ length: clients }, () =>
      until('an increment under If-Match', async () => {
        const { json, etag } = await send('GET', `${base}/${id}`)
        const name = String(Number(json.name) + 1)
        const { status } = await send('PATCH', `${base}/${id}`, { name }, { 'if-match': etag ?? '' })
        if (status !== 200 && status !== 412) throw new Error(`unexpected ${status}`)
        return status === 200
      }, 60_000)))
    const last = await send('GET', `${base}/${id}`)
    t.strictSame([last.json.name, last.etag], [String(clients), `"${clients + 1}"`])
  })
}
