// What comes and goes in parts.
import type { ImportSource } from '../lib/transfer/import-source.ts'
import { ClientError } from './error.ts'
import { parsed } from './transport.ts'

/** The lines of a text that comes in parts, each without its end. */
export async function * linesIn (parts: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  // A text that ends with a line has nothing behind it: an empty line would end an event that was cut.
  const last = rest + decoder.decode()
  if (last !== '') yield [last]
}

/** The bytes of an answer, as they come. @throws ClientError `network`, if it is cut off */
export async function * bytesOf ({ body }: Response, signal?: AbortSignal) {
  if (body === null) return
  const reader = body.getReader()
  const stop = (): void => { reader.cancel().catch(() => {}) }
  signal?.addEventListener('abort', stop)
  try {
    for (;;) {
      const part = await reader.read().catch((cause: unknown) => { throw new ClientError('network', 0, cause) })
      signal?.throwIfAborted()
      if (part.done) return
      yield part.value
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    // Who reads no further ends the request.
    stop()
  }
}

export const linesOf = (response: Response, signal?: AbortSignal) => linesIn(bytesOf(response, signal))

/** The lines of JSON of an answer. @throws ClientError */
export async function * rowsOf (response: Response, signal: AbortSignal | undefined) {
  for await (const lines of linesOf(response, signal)) {
    for (const line of lines) if (line !== '') yield parsed(line, response.status)
  }
}

/** A stream of chunks as they are, or of a line of JSON for each user. `onError`: the source has failed. */
export function streamOf (
  source: ImportSource, isFile: boolean, onError: (error: unknown) => unknown = () => {}
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  return new ReadableStream({
    async pull (controller) {
      try {
        const { done, value } = await iterator.next()
        if (done === true) return controller.close()
        const text = (): string => isFile ? String(value) : `${JSON.stringify(value)}\n`
        controller.enqueue(value instanceof Uint8Array ? value : encoder.encode(text()))
      } catch (error) {
        onError(error)
        throw error
      }
    },
    cancel: async () => { await iterator.return?.() }
  })
}
