import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { TestApp } from './app.ts'
import { listen } from './raw.ts'

/** Reads a stream of events from a server that listens. */
export async function openStream ({ app, key }: TestApp, query = '', headers: Record<string, string> = {}) {
  const request = get({
    host: '127.0.0.1',
    port: await listen(app),
    path: `/v1/events${query}`,
    headers: { accept: 'text/event-stream', authorization: `Bearer ${key}`, ...headers }
  })
  const [response]: IncomingMessage[] = await once(request, 'response')
  if (response === undefined) throw new Error('there was no response')
  let text = ''
  let isOver = false
  response.setEncoding('utf8').on('data', (chunk) => { text += chunk })
  response.on('close', () => { isOver = true }).on('error', () => {})
  return {
    response,
    isOver: () => isOver,
    text: () => text,
    events: () => text.split('\n\n').filter((frame) => frame.includes('data: ')).map((frame) => {
      const lines = new Map(frame.split('\n').map((line) => [line.split(': ')[0] ?? '', line.replace(/^\w+: /, '')]))
      return { ...Object.fromEntries(lines), id: lines.get('id'), data: JSON.parse(String(lines.get('data'))) }
    }),
    end: () => request.destroy()
  }
}
