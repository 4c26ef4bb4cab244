import { Writable } from 'node:stream'

const texts = new WeakMap<object, () => string>()

/** What a stream of `captureLog` has been told; nothing of any other. */
export const textOf = (stream: object): string => texts.get(stream)?.() ?? ''

/** A pino stream that keeps what is logged. */
export function captureLog (): { stream: Writable, text: () => string, entries: () => Array<Record<string, unknown>> } {
  let text = ''
  const stream = new Writable({
    write (chunk, _encoding, done) {
      text += String(chunk)
      done()
    }
  })
  texts.set(stream, () => text)
  return { stream, text: () => text, entries: () => text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line)) }
}
