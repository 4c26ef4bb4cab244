// Hooks of a host that read, wrap or replace what passes them.
import { pipeline, PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Level } from './level.ts'

/** A hook of each other kind, which takes its time. */
function addOthers (app: FastifyInstance): void {
  app.addHook('onRequest', async () => { await setImmediate() })
  app.addHook('preValidation', async () => { await setImmediate() })
  app.addHook('preHandler', async () => { await setImmediate() })
  app.addHook('preSerialization', async () => ({ wrapped: 'by the host' }))
  app.addHook('onError', async () => { await setImmediate() })
  app.addHook('onResponse', async () => { await setImmediate() })
  app.addHook('onTimeout', async () => { await setImmediate() })
  app.addHook('onRequestAbort', async (_request) => { await setImmediate() })
}

const through = (stream: NodeJS.ReadableStream): PassThrough => pipeline(stream, new PassThrough(), () => {})

export const requestBodies: Record<string, Level> = {
  'as they are': {},
  'listened to': {
    plug (app) {
      addOthers(app)
      app.addHook('preParsing', (_request, _reply, payload, done) => {
        payload.on('data', () => {})
        done()
      })
    }
  },
  wrapped: {
    plug (app) {
      addOthers(app)
      app.addHook('preParsing', async (_request, _reply, payload) => {
        await setImmediate()
        return Object.assign(through(payload), { receivedEncodedLength: 0 })
      })
    }
  },
  replaced: {
    plug (app) {
      addOthers(app)
      app.addHook('preParsing', async (_request, _reply, payload) => {
        const bytes = await buffer(payload)
        return Object.assign(Readable.from([bytes]), { receivedEncodedLength: bytes.length })
      })
    },
    buffersBodies: true
  }
}

const isStream = (payload: unknown): payload is Readable => payload instanceof Readable

export const responseBodies: Record<string, Level> = {
  'as they are': {},
  wrapped: {
    plug (app) {
      app.addHook('onSend', async (_request, _reply, payload) => {
        await setImmediate()
        if (!isStream(payload)) return payload
        payload.on('data', () => {})
        return through(payload)
      })
    }
  },
  replaced: {
    plug (app) {
      app.addHook('onSend', (_request, reply, payload, done) => {
        if (payload === undefined || payload === null) return done(null, payload)
        reply.removeHeader('content-length')
        done(null, Readable.from(isStream(payload) ? payload : [payload]))
      })
    }
  }
}
