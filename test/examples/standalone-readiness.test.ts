// The standalone service asks its store at most once a second whether it is ready, however many ask.
import { test } from 'tap'
import { createReadiness } from '../../examples/standalone/readiness.ts'

test('answers many from one question, good or bad, and asks again later', async (t) => {
  const { setTimeout } = globalThis
  const timers: Array<() => void> = []
  t.teardown(() => { globalThis.setTimeout = setTimeout })
  globalThis.setTimeout = Object(Object.assign((run: () => void) => {
    timers.push(run)
    return { unref () {} }
  }))
  let questions = 0
  let isUp = true
  const isReady = createReadiness(async () => {
    questions++
    if (!isUp) throw new Error('down')
  })
  t.strictSame(await Promise.all([isReady(), isReady(), isReady()]), [true, true, true])
  isUp = false
  t.strictSame([await isReady(), questions], [true, 1])
  timers.shift()?.()
  t.strictSame([await isReady(), await isReady(), questions], [false, false, 2])
  isUp = true
  timers.shift()?.()
  t.strictSame([await isReady(), questions], [true, 3])
})
