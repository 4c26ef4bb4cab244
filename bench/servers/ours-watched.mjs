// fastify-users, which answers each message with its memory usage after garbage collection.
import './ours.mjs'

process.on('message', () => {
  // Twice, since the second collection frees what finalizers released after the first.
  globalThis.gc()
  globalThis.gc()
  process.send(process.memoryUsage())
})
