import { Writable } from 'node:stream'

/** A pino stream that keeps what is logged. */
export function captureLog (): { stream: Writable, text: () => string, entries: () => Array<Record<string, unknown>> } {
  let text = ''
  const stream = new Writable({
    write (chunk, _encoding, done) {
      text += String(chunk)
      done()
    }
  })
  return { stream, text: () => text, entries: () => text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line)) }
}
