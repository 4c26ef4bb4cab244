// Requests on connections that are kept: what one request leaves behind on its connection, the next one meets.
import { Agent, request } from 'node:http'
import { connect } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

export interface Answer {
  status: number
  headers: Record<string, string>
  /** Without its content coding. */
  body: string
}

export type Headers = Record<string, string>
/** Sends a request and waits for the whole answer. Of a `body` that is `undefined` nothing is announced. */
export type Send = (method: string, path: string, headers?: Headers, body?: string | Buffer) => Promise<Answer>

export interface Client {
  send: Send
  close: () => void
}

const DEADLINE_MS = 30_000

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync
}

function answerOf (status: unknown, fields: object, bytes: Buffer): Answer {
  const headers = Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(':'))
    .map(([name, value]) => [name, String(value)]))
  const decode = decoders[headers['content-encoding'] ?? ''] ?? ((same) => same)
  return { status: Number(status), headers, body: (bytes.length === 0 ? bytes : decode(bytes)).toString() }
}

/** Rejects if work is not done in time, and says what it was. */
export async function inTime<Value> (what: string, work: Promise<Value>): Promise<Value> {
  let deadline: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    deadline = setTimeout(() => reject(new Error(`it took more than ${DEADLINE_MS} ms`)), DEADLINE_MS)
  })
  try {
    return await Promise.race([work, late])
  } catch (cause) {
    throw new Error(`${what}: ${String(cause)}`, { cause })
  } finally {
    clearTimeout(deadline)
  }
}

/** One connection of HTTP/1.1. */
function http1Client (port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    send: (method, path, headers = {}, body) => inTime(`${method} ${path}`, new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = request({ host: '127.0.0.1', port, agent, method, path, headers: { ...headers, ...length } })
      let isAnswered = false
      sent.on('error', (error) => { if (!isAnswered) reject(error) })
      sent.on('response', (response) => {
        isAnswered = true
        buffer(response).then((bytes) => resolve(answerOf(response.statusCode, response.headers, bytes)), reject)
      })
      sent.end(body)
    })),
    close: () => agent.destroy()
  }
}

/** One session of HTTP/2. */
function http2Client (port: number): Client {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  return {
    send: (method, path, headers = {}, body) => inTime(`${method} ${path}`, new Promise((resolve, reject) => {
      const fieldsOf = { ':method': method, ':path': path, ...headers }
      const stream = session.request(fieldsOf, { endStream: body === undefined })
      let fields: object | null = null
      stream.on('error', reject).on('response', (answer) => { fields = answer })
      buffer(stream).then((bytes) => {
        if (fields === null) throw new Error('the stream ended without headers')
        resolve(answerOf(Object(fields)[':status'], fields, bytes))
      }).catch(reject)
      if (body !== undefined) stream.end(body)
    })),
    close: () => session.destroy()
  }
}

export const openClient = (port: number, isHttp2: boolean): Client => isHttp2 ? http2Client(port) : http1Client(port)
