import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { TestApp } from './app.ts'
import { linesOf } from './import-rows.ts'
import { listen } from './raw.ts'

/** A line of JSON with a user. */
export const line = (n: number) => `${JSON.stringify({ name: `User ${n}`, email: `user${n}@example.org` })}\n`

/** An import into a server that listens, as its client sends it. */
export async function openImport ({ app, key }: TestApp, query = '?report=all', type = 'application/x-ndjson') {
  const port = await listen(app)
  const headers = { authorization: `Bearer ${key}`, 'content-type': type }
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path: `/v1/users/import${query}`, headers })
  let isBroken = false
  sent.on('error', () => { isBroken = true })
  let text = ''
  const response = once(sent, 'response').then(([answer]: IncomingMessage[]) => {
    if (answer === undefined) throw new Error('there was no response')
    answer.on('error', () => { isBroken = true })
    answer.setEncoding('utf8').on('data', (chunk) => { text += chunk })
    return answer
  })
  response.catch(() => {})
  return { sent, response, text: () => text, lines: () => linesOf(text), isBroken: () => isBroken }
}
