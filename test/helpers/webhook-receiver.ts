import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import type { Test } from 'tap'

/** A request that a receiver got. */
export interface Received {
  headers: IncomingHttpHeaders
  body: string
  event: { id: string, type: string, data: Record<string, unknown>, before?: unknown }
}

export interface Receiver {
  url: string
  received: Received[]
  /** The ids of the events that came, in the order in which they came. */
  ids (): string[]
  /** True if `standardwebhooks` accepts a request with a secret. */
  isSigned (request: Received, secret: string): boolean
  /** How it answers; the default is 204. */
  answer: (response: ServerResponse, request: Received) => void
}

function isSigned ({ headers, body }: Received, secret: string): boolean {
  try {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
    new Webhook(secret).verify(body, {
      'webhook-id': String(id), 'webhook-timestamp': String(timestamp), 'webhook-signature': String(signature)
    })
    return true
  } catch {
    return false
  }
}

/** Starts a receiver of webhooks on 127.0.0.1, ended with the test. */
export async function startReceiver (t: Test): Promise<Receiver> {
  const received: Received[] = []
  const receiver: Receiver = {
    url: '',
    received,
    ids: () => received.map(({ event }) => event.id),
    isSigned,
    answer: (response) => { response.writeHead(204).end() }
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const each = { headers: request.headers, body, event: JSON.parse(body) }
    received.push(each)
    receiver.answer(response, each)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address: AddressInfo = Object(server.address())
  receiver.url = `http://127.0.0.1:${address.port}/hook`
  return receiver
}
