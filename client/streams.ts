// What comes and goes in parts.
import { ClientError } from './error.ts'
import { parsed } from './transport.ts'
import type { UsersClient } from './types.ts'

type Source = Parameters<UsersClient['import']>[0]

/** The lines of a text that comes in parts, each without its end. */
export async function * linesIn (parts: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  yield [rest + decoder.decode()]
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

/** What an import sends: bytes as they are, and users as a line of JSON for each. `onError`: the source has failed. */
export function contentOf (
  source: Source, isFile: boolean, onError: (error: unknown) => unknown = () => {}
): Blob | ReadableStream<Uint8Array> {
  if (source instanceof Blob || source instanceof ReadableStream) return source
  const encoder = new TextEncoder()
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  return new ReadableStream({
    async pull (controller) {
      const next = async () => iterator.next()
      const { done, value } = await next().catch((error: unknown) => {
        onError(error)
        throw error
      })
      if (done === true) return controller.close()
      const text = (): string => isFile ? String(value) : `${JSON.stringify(value)}\n`
      controller.enqueue(value instanceof Uint8Array ? value : encoder.encode(text()))
    },
    cancel: async () => { await iterator.return?.() }
  })
}
