// Requests over each version of HTTP, so that a test can see how their responses end.
import { type IncomingMessage, request as request1 } from 'node:http'
import { connect as connect2, constants } from 'node:http2'
import { connect } from 'node:net'
import type { FastifyServerOptions } from 'fastify'

export interface Asked {
  port: number
  method: string
  path: string
  headers: Record<string, string>
}

/** A request that was begun. A GET has ended. */
export interface Exchange {
  /** Sends a part of the body. */
  send (part: string): void
  /** Ends the body. HTTP/1.0 sends all of it now, behind its length. */
  end (): void
  /** Breaks the request off. */
  cancel (): void
  /** Begins to read the response. */
  read (): void
  status (): number | null
  /** What has come of the response's body. */
  text (): string
  /** How the response ended, as its client sees it; null: it has not ended. */
  ending (): 'whole' | 'broken' | null
}

export interface Transport {
  name: string
  server: FastifyServerOptions
  open (asked: Asked): Exchange
}

function openHttp1 ({ headers, ...asked }: Asked): Exchange {
  const sent = request1({ host: '127.0.0.1', agent: false, ...asked, headers })
  let response: IncomingMessage | null = null
  let ending: ReturnType<Exchange['ending']> = null
  let text = ''
  let reads = false
  const broken = (): void => { ending ??= 'broken' }
  const begin = (): void => {
    response?.setEncoding('utf8').on('data', (part: string) => { text += part })
  }
  sent.on('error', broken).on('response', (answer) => {
    response = answer
    answer.on('end', () => { ending ??= 'whole' }).on('error', broken)
    if (reads) begin()
  })
  if (asked.method === 'GET') sent.end()
  else sent.flushHeaders()
  return {
    send: (part) => sent.write(part),
    end: () => sent.end(),
    cancel: () => sent.destroy(),
    read () {
      reads = true
      begin()
    },
    status: () => response?.statusCode ?? null,
    text: () => text,
    ending: () => ending
  }
}

function openHttp10 ({ port, method, path, headers }: Asked): Exchange {
  // Half open, so that a body may be left unfinished.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let ending: ReturnType<Exchange['ending']> = null
  let text = ''
  let body = ''
  let isBegun = false
  const begin = (length: number): void => {
    isBegun = true
    const fields = { ...headers, ...(method !== 'GET' && { 'content-length': String(length) }) }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${path} HTTP/1.0\r\n${lines.join('')}\r\n${body}`)
  }
  const status = (): number | null => text.includes('\r\n\r\n') ? Number(text.split(' ')[1]) : null
  const answer = (): string => text.slice(text.indexOf('\r\n\r\n') + 4)
  const end = (found: 'whole' | 'broken'): void => {
    const [, length] = /^content-length: (\d+)\r$/im.exec(text) ?? []
    ending ??= length !== undefined && Buffer.byteLength(answer()) === Number(length) ? 'whole' : found
  }
  socket.on('error', () => end('broken')).on('end', () => {
    // libuv takes a reset behind data for an end. Who writes then is told.
    socket.write('\r\n', (error) => {
      end(error == null ? 'whole' : 'broken')
      socket.destroy()
    })
  })
  if (method === 'GET') begin(0)
  return {
    send (part) {
      body += part
      if (isBegun) socket.write(part)
      // Longer than what is ever sent, but for a body that ends.
      else setImmediate(() => { if (!isBegun) begin(1_000_000) })
    },
    end () { if (!isBegun) begin(Buffer.byteLength(body)) },
    cancel: () => socket.destroy(),
    read: () => { socket.setEncoding('utf8').on('data', (part) => { text += String(part) }) },
    status,
    text: answer,
    ending: () => ending
  }
}

function openHttp2 ({ port, method, path, headers }: Asked): Exchange {
  const session = connect2(`http://127.0.0.1:${port}`)
  // By a signal: `close()` would end the body before it breaks the request off.
  const left = new AbortController()
  const options = { endStream: method === 'GET', signal: left.signal }
  const stream = session.request({ ':method': method, ':path': path, ...headers }, options)
  let ending: ReturnType<Exchange['ending']> = null
  let status: number | null = null
  let text = ''
  session.on('error', () => {})
  stream.on('error', () => { ending ??= 'broken' })
    .on('end', () => { ending ??= stream.rstCode === constants.NGHTTP2_NO_ERROR ? 'whole' : 'broken' })
    .on('response', (fields) => { status = Number(fields[':status']) })
    .on('close', () => {
      ending ??= 'broken'
      session.close()
    })
  return {
    send: (part) => stream.write(part),
    end: () => stream.end(),
    cancel: () => left.abort(),
    read: () => { stream.setEncoding('utf8').on('data', (part: string) => { text += part }) },
    status: () => status,
    text: () => text,
    ending: () => ending
  }
}

export const http1: Transport = { name: 'HTTP/1.1', server: {}, open: openHttp1 }
export const http2: Transport = { name: 'HTTP/2', server: Object({ http2: true }), open: openHttp2 }

/** The versions of HTTP that hosts speak. */
export const TRANSPORTS: readonly Transport[] = [
  http1,
  { name: 'HTTP/1.0', server: {}, open: openHttp10 },
  http2
]
