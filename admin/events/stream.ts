import type { LoggedEvent } from '../api/types.ts'

/** What a message of the stream says: an event, or only the position that the stream has reached. */
export interface Message { id: string | undefined, event: LoggedEvent | undefined }

function messageOf (text: string): Message {
  const valueOf = (name: string): string | undefined =>
    text.split('\n').find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const data = valueOf('data')
  return { id: valueOf('id'), event: data === undefined ? undefined : JSON.parse(data) }
}

/** The messages of a stream of Server-Sent Events, as this API sends them. `EventSource` can't send a key. */
export async function * readMessages (bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Message> {
  const reader = bytes.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const texts = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = texts.pop() ?? ''
    for (const text of texts) yield messageOf(text)
  }
}
