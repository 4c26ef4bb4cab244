// Ours, with an answer to the question how long its event loop has been held since the last time: milliseconds, the 99th percentile and the longest.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import './ours.mjs'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('message', () => {
  process.send({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 })
  delay.reset()
})
