import { Writable } from 'node:stream'

const texts = new WeakMap<object, () => string>()

/** The text that was logged to a stream of `captureLog`. Empty for any other stream. */
export const textOf = (stream: object): string => texts.get(stream)?.() ?? ''

/** A stream for pino that records what is logged. */
export function captureLog (): {
  stream: Writable
  text: () => string
  entries: () => Array<Record<string, unknown>>
} {
  let text = ''
  const stream = new Writable({
    write (chunk, _encoding, done) {
      text += String(chunk)
      done()
    }
  })
  texts.set(stream, () => text)
  return {
    stream,
    text: () => text,
    entries: () => text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))
  }
}
