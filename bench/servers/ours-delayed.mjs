// fastify-users, which answers each message with the delay of its event loop since the last one: the 99th percentile
// and the maximum in milliseconds.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import './ours.mjs'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('message', () => {
  process.send({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 })
  delay.reset()
})
