// How work in the background steps aside for requests, by a clock of the test's. What Node.js really publishes is in
// test/transfer/import-stream.test.ts.
import { channel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { type Test, test } from 'tap'
import { watchForeground } from '../../lib/core/foreground.ts'
import { advancing } from '../helpers/advancing.ts'

/** A request comes; returns how it ends. */
function ask (): () => void {
  const response = new EventEmitter()
  channel('http.server.request.start').publish({ response })
  return () => { response.emit('close') }
}

function watched (t: Test) {
  const foreground = watchForeground()
  t.teardown(() => foreground.close())
  const rest = () => {
    let isOver = false
    foreground.rest().then(() => { isOver = true })
    return () => isOver
  }
  return { ...foreground, rest }
}

test('without requests there is no rest', async (t) => {
  const { advance } = advancing(t)
  const { isBusy, rest } = watched(t)
  const isOver = rest()
  await advance(0)
  t.strictSame([isBusy(), isOver()], [false, true])
})

test('a rest ends when the last of the requests does', async (t) => {
  const { advance } = advancing(t)
  const { isBusy, rest } = watched(t)
  const ends = [ask(), ask()]
  t.equal(isBusy(), true)
  const isOver = rest()
  await advance(5)
  t.equal(isOver(), false)
  ends[0]?.()
  await advance(1)
  t.equal(isOver(), false, 'another one is there')
  ends[1]?.()
  await advance(0)
  t.equal(isOver(), true)
})

test('between two requests it rests until the next one was answered', async (t) => {
  const { advance } = advancing(t)
  const { rest } = watched(t)
  ask()()
  const isOver = rest()
  await advance(5)
  t.equal(isOver(), false)
  const end = ask()
  end()
  await advance(0)
  t.equal(isOver(), true)
})

test('a rest takes 10 ms at most, and a request of more than 20 ms does not count', async (t) => {
  const { advance } = advancing(t)
  const { isBusy, rest } = watched(t)
  ask()
  const first = rest()
  await advance(9)
  t.equal(first(), false)
  await advance(1)
  t.equal(first(), true)
  await advance(20)
  const end = ask()
  const beside = rest()
  await advance(1)
  end()
  await advance(0)
  t.equal(beside(), true, 'the long one is still open')
  await advance(98)
  t.equal(isBusy(), true)
  await advance(1)
  t.equal(isBusy(), false, 'nobody came for 100 ms')
})

test('after its end nothing is watched', async (t) => {
  advancing(t)
  const foreground = watchForeground()
  const other = watched(t)
  foreground.close()
  ask()
  t.strictSame([foreground.isBusy(), other.isBusy()], [false, true])
})
