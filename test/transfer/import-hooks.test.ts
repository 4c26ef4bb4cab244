// Hooks of the host that touch the stream of a body: an import gets all of it, or fails.
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { PassThrough, Transform } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { line, openImport } from '../helpers/open-import.ts'
import { until } from '../helpers/until.ts'

test('an import gets its whole body, whatever a hook of the host does to the stream', async (t) => {
  const count = 40
  // In many parts, and most of it blank.
  const body = Array.from({ length: count }, (_, n) => `${line(n)}${' '.repeat(5000)}\n`).join('')
  // Others are beside everything else in test/helpers/combinations/hooks.ts.
  const rows: Array<[name: string, add: (app: FastifyInstance) => void]> = [
    ['listens in an async hook', (app) => app.addHook('preParsing', async (_request, _reply, payload) => {
      payload.on('data', () => {})
      return payload
    })],
    ['pauses it at a limit', (app) => app.addHook('preParsing', (_request, _reply, payload, done) => {
      payload.on('data', () => payload.pause())
      done(null, payload)
    })],
    ['puts one in its place that says what it has read', (app) => {
      app.addHook('preParsing', (_request, _reply, payload, done) => {
        const spaced = new Transform({ transform: (part, _encoding, next) => next(null, `${String(part)} `) })
        done(null, Object.assign(payload.pipe(spaced), { receivedEncodedLength: body.length }))
      })
    }],
    ['reads before the handler', (app) => app.addHook('preHandler', async ({ raw }) => {
      raw.on('readable', () => { while (raw.read() !== null); })
    })],
    ['pipes it before the handler', (app) => app.addHook('preHandler', async ({ raw }) => {
      raw.pipe(new PassThrough()).resume()
    })],
    ['replaces the body', (app) => app.addHook('preHandler', async (request) => { request.body = { none: true } })]
  ]
  for (const [name, add] of rows) {
    const host = await testApp(t, { before: (app) => { add(app) } })
    const { sent, response, lines } = await openImport(host, '')
    sent.setHeader('content-length', body.length)
    sent.end(body)
    await once(await response, 'end')
    t.match(lines(), [{ summary: { created: count, refused: 0 } }], name)
  }
})

test('an import whose body a hook has taken fails, and the log names the reason', async (t) => {
  const rows: Array<[name: string, add: (app: FastifyInstance) => void]> = [
    ['reads it first', (app) => app.addHook('onRequest', async ({ raw }) => {
      raw.on('data', () => {})
      await once(raw, 'end')
    })],
    ['reads its beginning first', (app) => app.addHook('preParsing', async (_request, _reply, payload) => {
      payload.on('data', () => {})
      await once(payload, 'data')
      return payload
    })],
    ['drops bytes', (app) => app.addHook('preParsing', async (_request, _reply, payload) => {
      return payload.pipe(new Transform({ transform: (part, _encoding, done) => done(null, part.subarray(0, -1)) }))
    })]
  ]
  const body = line(1).trimEnd()
  for (const [name, add] of rows) {
    for (const length of name === 'drops bytes' ? [body.length] : [body.length, undefined]) {
      const log = captureLog()
      const server = { logger: { level: 'error', stream: log.stream } }
      const host = await testApp(t, { before: (app) => { add(app) }, server })
      const { sent, response } = await openImport(host)
      if (length !== undefined) sent.setHeader('content-length', length)
      sent.end(body)
      t.equal((await response).statusCode, 500, name)
      t.match(log.text(), 'a hook of this server has taken', name)
      t.equal((await host.app.users.list()).meta.total, 0, name)
    }
  }
})

test('an empty body that a hook has read to its end is a file without lines', async (t) => {
  const host = await testApp(t, {
    before: (app) => {
      app.addHook('onRequest', async ({ raw }) => {
        raw.resume()
        await once(raw, 'end')
      })
    }
  })
  const { sent, response, lines } = await openImport(host)
  sent.setHeader('transfer-encoding', 'chunked')
  sent.end()
  await once(await response, 'end')
  t.match(lines(), [{ summary: { created: 0 } }])
})

test('an import through a stream of a hook ends when its client has gone', async (t) => {
  const host = await testApp(t, {
    before: (app) => {
      app.addHook('preParsing', async (_request, _reply, payload) => payload.pipe(new PassThrough()))
    }
  })
  const { sent, response } = await openImport(host)
  sent.write(line(1))
  await response
  sent.destroy()
  await until('it watches no requests any more', () => !channel('http.server.request.start').hasSubscribers)
})
