// What happens at the end of a turn of the event loop.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test, type Test } from 'tap'
import { atEndOfTurn, endOfTurn } from '../../lib/core/turn.ts'

test('all who wait for the end of a turn go on together, and what they ask for comes behind them', async (t) => {
  const seen: string[] = []
  const go = async (name: string, steps: number): Promise<void> => {
    await endOfTurn()
    for (let i = 0; i < steps; i++) await null
    seen.push(name)
    atEndOfTurn(() => seen.push(`behind ${name}`))
  }
  const all = [go('a', 0), go('b', 9), go('c', 3)]
  process.nextTick(() => { all.push(go('d', 1)) })
  setImmediate(() => seen.push('next'))
  await Promise.all(all)
  t.strictSame(seen, ['a', 'd', 'c', 'b'], 'each at its own pace')
  await nextTurn()
  t.strictSame(seen.slice(4), ['behind a', 'behind d', 'behind c', 'behind b', 'next'])
})

test('without others it is the end of the turn, each time', async (t) => {
  const seen: string[] = []
  atEndOfTurn(() => seen.push('behind'))
  await Promise.resolve()
  process.nextTick(() => seen.push('tick'))
  await nextTurn()
  t.strictSame(seen, ['tick', 'behind'])
  await endOfTurn()
  await nextTurn()
  atEndOfTurn(() => seen.push('again'))
  await Promise.resolve()
  t.strictSame(seen, ['tick', 'behind'], 'not yet')
  await nextTurn()
  t.strictSame(seen, ['tick', 'behind', 'again'])
})

test('a caller that arrives while others resume waits for the next turn', async (t) => {
  const seen: string[] = []
  const first = endOfTurn().then(async () => {
    seen.push('first')
    atEndOfTurn(() => seen.push('behind'))
    await endOfTurn()
    seen.push('second')
  })
  await first
  t.strictSame(seen, ['first', 'behind', 'second'])
})

/** Has so many clients connect together: how many were accepted when the turn of the first had ended. */
async function acceptedTogether (t: Test, clients: number): Promise<number> {
  let accepted = 0
  const server = createServer((socket) => {
    accepted++
    socket.resume().on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const sockets = Array.from({ length: clients }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'connection')
  await endOfTurn()
  return accepted
}

test('the turn in which one of many connects ends when they all have connected, but not too late', async (t) => {
  t.equal(await acceptedTogether(t, 50), 50, 'Node.js accepts one in a turn')
  const many = await acceptedTogether(t, 300)
  t.ok(many > 100 && many < 200, `${many} of 300`)
})
