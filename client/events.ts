import type { EventFilter } from '../lib/events/types.ts'
import type { FollowOptions } from '../lib/events/in-process.ts'
import { ClientError } from './error.ts'
import { linesOf } from './streams.ts'
import { backoff, jsonOf, type Transport, wait } from './transport.ts'

/** What JSON is parsed to. */
type Parsed = ReturnType<typeof JSON.parse>
/** Events in the order of the log, and the position after them. */
interface Part { events: Parsed[], position: string | undefined }
/** Reads the log after a position. */
type Reads = (query: object, signal: AbortSignal | undefined) => AsyncGenerator<Part, void, undefined>

// The server sends a sign of life each 15 seconds.
const SILENT_MS = 45_000
const PAGE = { method: 'GET', path: '/events' } as const

/** Reads a stream (HTML Living Standard, section 9.2), until it ends or is silent. */
export const streamed = (
  send: Transport, onConnection: (isOpen: boolean) => void = () => {}
): Reads => async function * (query, signal) {
  const silence = new AbortController()
  const stop = (): void => silence.abort(signal?.reason)
  const fallSilent = (): void => silence.abort(new ClientError('timeout'))
  signal?.addEventListener('abort', stop)
  let timer = setTimeout(fallSilent, SILENT_MS)
  let [id, data, position]: Array<string | undefined> = []
  try {
    const headers = { accept: 'text/event-stream' }
    const sent = { ...PAGE, headers, query, signal: silence.signal, triesMax: 1 }
    const response = await send(sent, (answer) => answer)
    onConnection(true)
    for await (const lines of linesOf(response, silence.signal)) {
      clearTimeout(timer)
      timer = setTimeout(fallSilent, SILENT_MS)
      const events: Parsed[] = []
      for (const line of lines) {
        if (line.startsWith('id: ')) id = line.slice(4)
        if (line.startsWith('data: ')) data = line.slice(6)
        if (line !== '') continue
        // The end of an event; without data, of a comment whose id is that of an event that was passed over.
        if (data !== undefined) events.push(JSON.parse(data))
        data = undefined
        position = id
      }
      yield { events, position }
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    silence.abort()
    onConnection(false)
  }
}

/** Reads pages, with a pause after the last one. */
export const paged = (send: Transport, pollMs: number): Reads => async function * (query, signal) {
  for (let place = {}; ;) {
    const { data, meta } = await send({ ...PAGE, query: { ...query, ...place }, ...signal && { signal } }, jsonOf)
    yield { events: data, position: meta.position }
    place = { after: meta.position }
    if (meta.more !== true) await wait(pollMs, signal)
  }
}

/** Whether following goes on after an error. What the API has refused for good is the caller’s. */
function isPassing (error: unknown): error is ClientError {
  return error instanceof ClientError && (error.statusCode < 400 || error.statusCode >= 500 || error.statusCode === 429)
}

/** Follows the log from a position on: each event once, over connections that break. */
export async function * follow (
  parts: Reads, id: string | null, options: FollowOptions<EventFilter>
): AsyncGenerator<Parsed, void, undefined> {
  const { signal, onPosition = () => {}, ...query } = options
  let after = id ?? undefined
  for (let tries = 0; signal?.aborted !== true; tries++) {
    let failure = new ClientError('network')
    try {
      for await (const { events, position } of parts({ ...query, after }, signal)) {
        tries = 0
        yield * events
        if (position === undefined || position === after) continue
        after = position
        await onPosition(position)
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!isPassing(error)) throw error
      failure = error
    }
    await wait(backoff(tries, failure), signal).catch(() => {})
  }
}
