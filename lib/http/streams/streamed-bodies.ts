import { constants } from 'node:http2'
import { Duplex, type Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bodyBrokenOff, http2Stream, serverClosing } from '../break-off.ts'

/** The parts of a body, as they are asked for. */
export type BodyParts = AsyncGenerator<Uint8Array | string, void, undefined>

/** Gives the parts of a request's body. A request without content has none. */
export type BodyOf = (request: FastifyRequest) => BodyParts | []

type Cut = () => void

interface StreamedBody {
  parts: BodyParts
  /** Has `parts` throw behind what has been read of the body, unless that is all of it. */
  stop: () => void
  /** Lets go of the body once its response has ended. */
  leave: () => void
}

// A client that sends on after its answer is cut off then. It has read the answer by now, or never will.
const LEFT_MS = 5000
const LEFT_CLOSING_MS = 1000

/** Bytes that a hook of the host's has taken are no fault of the client's. */
function bytesMissing (detail: string): Error {
  return new Error(`a hook of this server has taken the body of an import, or a part of it: ${detail}`)
}

/**
 * Takes a body over, in the turn in which Fastify's own parser would. Listeners of the host's get each part too, when
 * it is asked for here, and none passes unseen.
 */
function takeBody (request: FastifyRequest, payload: Readable, left: Set<Cut>): StreamedBody {
  const { raw, headers } = request
  const { socket } = raw
  const stream = http2Stream(raw)
  const length = Number(headers['content-length'] ?? NaN)
  const taken: Array<Uint8Array | string> = []
  let received = 0
  let end: { error: unknown } | null = null
  let isAwaited = false
  let isStopped = false
  let wake = (): void => {}

  const settle = (error: unknown): void => {
    end ??= { error }
    wake()
  }
  const onData = (part: Uint8Array | string): void => {
    received += Buffer.byteLength(part)
    taken.push(part)
    isAwaited = false
    payload.pause()
    wake()
  }
  const isCut = (): boolean => stream === null ? socket.destroyed : stream.destroyed || stream.aborted
  const onFailure = (): void => settle(isCut() ? bodyBrokenOff() : bytesMissing('its stream was destroyed'))
  const onEnd = (): void => {
    // A stream that a hook has put in between may count what it has read itself, as Fastify's own parser knows it.
    const read = Number(Object(payload).receivedEncodedLength || received)
    if (isCut()) settle(bodyBrokenOff())
    else settle(Number.isNaN(length) || read === length ? null : bytesMissing(`${read} of ${length} bytes are left`))
  }
  // A hook that limits what it reads pauses the stream for all.
  const onPause = (): void => { process.nextTick(() => { if (isAwaited) payload.resume() }) }
  const resume = (): void => {
    isAwaited = true
    payload.resume()
  }

  payload.on('data', onData).on('end', onEnd).on('pause', onPause)
    .on('error', onFailure).on('close', onFailure)
  // A stream that a hook put in between may not notice.
  raw.once('close', () => { if (isCut()) settle(bodyBrokenOff()) })
  payload.pause()
  if (payload.readableDidRead) settle(bytesMissing('it was read before it was parsed'))
  else if (payload.readableEnded) onEnd()

  async function * parts (): BodyParts {
    while (true) {
      const part = taken.shift()
      if (part !== undefined) yield part
      else if (end === null) await new Promise<void>((resolve) => { wake = resolve; resume() })
      else if (end.error === null) return
      else throw end.error
    }
  }

  /** Ends what the client still sends. */
  function cut (): void {
    if (stream !== null) stream.close(constants.NGHTTP2_CANCEL)
    // A request of `inject` has no connection.
    else if (socket instanceof Duplex) socket.destroy()
  }

  function stop (): void {
    isStopped = true
    settle(serverClosing())
  }

  function leave (): void {
    if (end?.error === null) return
    settle(bodyBrokenOff())
    payload.off('data', onData)
    taken.length = 0
    resume()
    if (stream === null && raw.complete) return
    // Otherwise the connection would stay half-read. A client still sending would lose its answer if cut now.
    const timer = setTimeout(cut, isStopped ? LEFT_CLOSING_MS : LEFT_MS).unref()
    left.add(cut)
    const over = (): void => {
      clearTimeout(timer)
      left.delete(cut)
    }
    raw.once('close', over)
    socket.once('close', over)
  }

  // Over HTTP/2 a response is not over for Fastify before its request is.
  stream?.once('finish', leave)
  return { parts: parts(), stop, leave }
}

/**
 * Lets handlers of a scope read bodies themselves. What is not read when a response has ended is read away, for
 * 5 seconds or until the server closes. A server that closes reads no more of any body.
 */
export function streamBodies (scope: FastifyInstance): BodyOf {
  const bodies = new Map<FastifyRequest, StreamedBody>()
  const left = new Set<Cut>()
  scope.removeAllContentTypeParsers()
  // Hooks find no body in the request, or they could read it.
  scope.addContentTypeParser('*', (request, payload, done) => {
    bodies.set(request, takeBody(request, payload, left))
    done(null)
  })
  scope.addHook('onResponse', async (request) => {
    bodies.get(request)?.leave()
    bodies.delete(request)
  })
  scope.addHook('preClose', async () => {
    for (const cut of left) cut()
    for (const { stop } of bodies.values()) stop()
  })
  return (request) => bodies.get(request)?.parts ?? []
}
