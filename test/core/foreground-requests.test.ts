// How background work yields to requests, by a clock that the test sets. test/transfer/import-stream.test.ts does it
// with what Node.js publishes.
import { channel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { type Test, test } from 'tap'
import { watchForegroundRequests } from '../../lib/core/foreground-requests.ts'
import { advancing } from '../helpers/advancing.ts'

/** Has a request arrive; returns the function that ends it. */
function arrive (): () => void {
  const response = new EventEmitter()
  channel('http.server.request.start').publish({ response })
  return () => { response.emit('close') }
}

function watch (t: Test) {
  const requests = watchForegroundRequests()
  t.teardown(() => requests.close())
  /** Yields; returns the function that says whether work goes on. */
  const startYield = () => {
    let isOver = false
    requests.yieldToRequests().then(() => { isOver = true })
    return () => isOver
  }
  return { isBusy: requests.isBusy, startYield }
}

test('without requests work goes on in the next turn', async (t) => {
  const { advance } = advancing(t)
  const { isBusy, startYield } = watch(t)
  const isOver = startYield()
  t.equal(isOver(), false)
  await advance(0)
  t.strictSame([isBusy(), isOver()], [false, true])
})

test('waits until every request has ended', async (t) => {
  const { advance } = advancing(t)
  const { isBusy, startYield } = watch(t)
  const [endFirst, endSecond] = [arrive(), arrive()]
  t.equal(isBusy(), true)
  const isOver = startYield()
  await advance(5)
  t.equal(isOver(), false)
  endFirst()
  await advance(1)
  t.equal(isOver(), false, 'the second one is being answered')
  endSecond()
  await advance(0)
  t.equal(isOver(), true)
})

test('between two requests waits until the next one has ended', async (t) => {
  const { advance } = advancing(t)
  const { startYield } = watch(t)
  arrive()()
  const isOver = startYield()
  await advance(5)
  t.equal(isOver(), false)
  arrive()()
  await advance(0)
  t.equal(isOver(), true)
})

test('waits 10 ms at most, and not for a request of more than 20 ms', async (t) => {
  const { advance } = advancing(t)
  const { isBusy, startYield } = watch(t)
  arrive()
  const isFirstOver = startYield()
  await advance(9)
  t.equal(isFirstOver(), false)
  await advance(1)
  t.equal(isFirstOver(), true)
  await advance(20)
  const end = arrive()
  const isSecondOver = startYield()
  await advance(1)
  end()
  await advance(0)
  t.equal(isSecondOver(), true, 'the long request is still open')
  await advance(98)
  t.equal(isBusy(), true)
  await advance(1)
  t.equal(isBusy(), false, 'no request arrived for 100 ms')
})

test('after close no request counts', async (t) => {
  advancing(t)
  const closed = watchForegroundRequests()
  const { isBusy } = watch(t)
  closed.close()
  arrive()
  t.strictSame([closed.isBusy(), isBusy()], [false, true])
})
