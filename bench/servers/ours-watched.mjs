// Ours, with an ear for the question how large its heap is once it is collected.
import './ours.mjs'

process.on('message', () => {
  // Twice: what finalizers let go is collected by the next.
  globalThis.gc()
  globalThis.gc()
  process.send(process.memoryUsage())
})
