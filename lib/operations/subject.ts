import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import { requireScope } from '../http/admission/authentication.ts'
import { JSON_TYPE } from '../http/body.ts'
import type { Breakables } from '../http/break-off.ts'
import { callerOf } from '../http/caller.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import { pacedStream, RECHECK_MS } from '../http/streams/paced-stream.ts'
import { userId } from '../openapi/component-parts.ts'
import type { SubjectPart } from '../events/subject.ts'
import { requireNoFaults } from './answers.ts'
import type { Operation } from './operation.ts'

export interface SubjectOperationOptions {
  limits: ConcurrencyLimits
  /** Throw once the caller of a request may no longer read it. */
  rechecks: ReadonlyArray<(request: FastifyRequest) => Promise<void>>
  securityLog: SecurityLog
  /** Shows the user without its version, as all answers do. */
  shown: (user: NonNullable<SubjectPart['user']>) => object
}

const NEEDED: Scope = 'events:read'

const itemsOf = (items: readonly unknown[] = []): string[] => items.map((item) => JSON.stringify(item))

/** All that is stored of a person, as one document that is streamed: a history may be long. */
export function subjectOperation (
  begin: Breakables,
  read: (id: string) => AsyncGenerator<SubjectPart, void, undefined>,
  { limits, rechecks, securityLog, shown }: SubjectOperationOptions
): Operation {
  /** The document, text by text. Deliveries come last, so they are kept until then: each is as small as an event. */
  async function * texts (first: SubjectPart, rest: AsyncGenerator<SubjectPart, void, undefined>) {
    const user = first.user ?? null
    yield `{"user":${JSON.stringify(user === null ? null : shown(user))},"events":[`
    const deliveries: string[] = []
    let isFirst = true
    for (let part = first; ;) {
      const events = itemsOf(part.events)
      deliveries.push(...itemsOf(part.deliveries))
      if (events.length > 0) yield `${isFirst ? '' : ','}${events.join(',')}`
      if (events.length > 0) isFirst = false
      const next = await rest.next()
      if (next.done === true) break
      part = next.value
    }
    yield `],"deliveries":[${deliveries.join(',')}]}`
  }

  async function streamed (request: FastifyRequest, reply: FastifyReply): Promise<Readable> {
    const gone = begin(reply)
    const parts = read(String(Object(request.params)['id']))
    // What can't be read at all is an ordinary error.
    const first = await parts.next()
    const stream = pacedStream(gone, async function * (_signal, pace) {
      let checked = performance.now()
      for await (const text of texts(first.value ?? {}, parts)) {
        if (performance.now() - checked >= RECHECK_MS) {
          for (const recheck of rechecks) await recheck(request)
          checked = performance.now()
        }
        yield * pace(text)
      }
    })
    stream.once('close', () => { parts.return().catch(() => {}) })
    return stream
  }

  return {
    tag: 'users',
    method: 'GET',
    path: '/users/:id/subject',
    id: userId,
    scope: 'users:read',
    operationId: 'getSubject',
    summary: 'Read all that is stored of a person',
    description: 'The user, or the deleted one that can be restored, its history, and the deliveries that carried ' +
      'it, as one document that is streamed: for a request for access (GDPR, article 15). It needs `events:read` ' +
      'too. It is whole if the response ends as its framing says. HEAD works too.',
    success: { status: 200, description: 'The document.', is: 'Subject' },
    codes: ['validation_failed', 'user_not_found'],
    limitsItself: true,
    async handler ({ request, reply, faults }) {
      requireScope(request, callerOf(request), NEEDED, securityLog)
      requireNoFaults(faults)
      const stream = await limits.reads(() => streamed(request, reply))
      reply.type(`${JSON_TYPE}; charset=utf-8`)
      if (request.method !== 'HEAD') return reply.send(stream)
      stream.destroy()
      return reply.send(undefined)
    }
  }
}
