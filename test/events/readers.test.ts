// Contract §13: where a reader of the event log goes on, and when it is expired.
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { testApp } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'

async function logged (t: Test) {
  const storage = memory()
  const { app } = await testApp(t, { eventLog: true, storage })
  let count = 0
  return {
    app,
    events: app.users.events,
    add: async () => app.users.create({ name: 'Ann', email: `ann${++count}@example.org` }),
    /** Prunes all but the newest event. */
    prune: async () => storage.log.prune(new Date(Date.now() + 1000).toISOString(), 1000)
  }
}

test('a reader of one type is not expired by events of others', async (t) => {
  const { app, events, add, prune } = await logged(t)
  const first = await add()
  const cursor = (await events.list({ type: 'user.created' })).data.at(-1)?.id ?? ''
  for (const name of ['B', 'C', 'D']) await app.users.update(first.id, { name })
  t.equal(await prune(), 4, 'its own event, and others behind it')
  const query = { after: cursor, type: 'user.created' } as const
  const { data: nothing, meta: { more, position } } = await events.list(query)
  t.strictSame([nothing, more], [[], false])
  t.equal(position, (await events.list()).data.at(-1)?.id, 'it has passed all')
  const second = await add()
  const found = (await events.list(query)).data
  t.strictSame(found.map(({ data: { id } }) => id), [second.id])
  t.strictSame((await events.list({ after: String(position), type: 'user.created' })).data, found)
  const reading = events.after(cursor, { type: 'user.created' })
  t.equal((await reading.next()).value?.id, found[0]?.id)
  await reading.return()

  // Of two types, the one that has missed something counts.
  for (const type of ['user.*', 'user.updated'] as const) {
    await t.rejects(events.list({ after: cursor, type }), { code: 'events_expired' }, type)
  }
  await t.rejects(events.list({ after: cursor }), { code: 'events_expired' })
  await add()
  await prune()
  await t.rejects(events.list(query), { code: 'events_expired' }, 'one of its own is gone')
  const late = String(found[0]?.id)
  t.equal((await events.list({ after: late, type: 'user.created' })).data.length, 1, 'it had the last that is gone')
  t.equal((await events.list({ after: late })).data.length, 1, 'which was the last of all')
})

test('a reader of one type goes on at the position that it was given', async (t) => {
  const { app, events, add, prune } = await logged(t)
  const { id } = await add()
  const read = (after?: string) => events.list({ type: 'user.deleted', ...(after !== undefined && { after }) })
  const position = String((await read()).meta.position)
  t.equal(position, (await events.list()).data.at(-1)?.id)
  await app.users.update(id, { name: 'B' })
  await app.users.update(id, { name: 'C' })
  await prune()
  t.strictSame((await read(position)).data, [], 'nothing that it has asked for is gone')
  await app.users.delete(id)
  t.equal((await read(position)).data[0]?.data.id, id)
})

test('a reader can begin at the end', async (t) => {
  const { app, events, add } = await logged(t)
  const { id } = await add()
  const newest = (await events.list()).data.at(-1)?.id
  t.strictSame(await events.list({ after: 'now', type: 'user.*' }),
    { data: [], meta: { limit: 20, more: false, position: newest } })
  const positions: string[] = []
  const reading = events.after('now', { type: 'user.deleted', onPosition: (each) => { positions.push(each) } })
  const deletion = reading.next()
  await until('it has begun', () => positions.length === 1)
  t.strictSame(positions, [newest])
  await app.users.update(id, { name: 'B' })
  await until('it has passed the update', () => positions.length === 2)
  t.equal(positions[1], (await events.list()).data.at(-1)?.id)
  await app.users.delete(id)
  const { value } = await deletion
  t.equal(value?.data.id, id)
  t.equal(positions.length, 2, 'what was not dealt with is not passed')
  await reading.return(undefined)
})

test('a position is given when all before it was dealt with, and awaited', async (t) => {
  const { events, add } = await logged(t)
  await add()
  const steps: string[] = []
  const onPosition = async (position: string) => {
    await new Promise((resolve) => setImmediate(resolve))
    steps.push(position)
  }
  for await (const { id } of events.after(null, { onPosition, type: 'user.*' })) {
    steps.push(`event ${id}`)
    if (steps.length === 1) await add()
    else break
  }
  const ids = (await events.list({ type: 'user.*' })).data.map(({ id }) => id)
  t.strictSame(steps, [`event ${ids[0]}`, ids[0], `event ${ids[1]}`])
  await t.rejects(events.after(null, Object({ onPosition: 1 })).next(), {
    code: 'validation_failed', errors: [{ parameter: 'onPosition', code: 'type' }]
  })
})
