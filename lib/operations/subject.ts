import type { FastifyRequest } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import { requireScopes } from '../http/admission/authentication.ts'
import { JSON_TYPE } from '../http/body.ts'
import type { Breakables } from '../http/break-off.ts'
import { callerOf, shareOf } from '../http/caller.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import { readingStream } from '../http/streams/paced-stream.ts'
import type { HoldPlace } from '../http/streams/stream-places.ts'
import { userId } from '../openapi/component-parts.ts'
import type { SubjectPart } from '../events/subject.ts'
import { requireNoFaults } from './answers.ts'
import type { Operation } from './operation.ts'

export interface SubjectOperationOptions {
  limits: ConcurrencyLimits
  /** Takes the caller's place for it. */
  hold: HoldPlace
  /** Throw once the caller of a request may no longer read it. */
  rechecks: ReadonlyArray<(request: FastifyRequest) => Promise<void>>
  securityLog: SecurityLog
  /** True if the document has groups, which are read by a scope of their own. */
  hasGroups: boolean
}

const itemsOf = (items: readonly unknown[] = []): string[] => items.map((item) => JSON.stringify(item))

/** All that is stored of a person, as one document that is streamed: a history may be long. */
export function subjectOperation (
  begin: Breakables,
  read: (id: string, tenant: string | undefined) => AsyncGenerator<SubjectPart, void, undefined>,
  { limits, hold, rechecks, securityLog, hasGroups }: SubjectOperationOptions
): Operation {
  /** The document, text by text. Deliveries come last, so they are kept until then: each is as small as an event. */
  async function * textsOf (id: string, tenant: string | undefined): AsyncGenerator<string, void, undefined> {
    const deliveries: string[] = []
    let separator = ''
    for await (const { user, groups, events, deliveries: carried } of read(id, tenant)) {
      // The first part has the user, or null.
      if (user !== undefined) yield `{"user":${JSON.stringify(user)},"groups":${JSON.stringify(groups)},"events":[`
      deliveries.push(...itemsOf(carried))
      const items = itemsOf(events).join(',')
      if (items === '') continue
      yield `${separator}${items}`
      separator = ','
    }
    yield `],"deliveries":[${deliveries.join(',')}]}`
  }

  const needed: Scope[] = hasGroups ? ['events:read', 'groups:read'] : ['events:read']
  const recheck = async (request: FastifyRequest): Promise<void> => {
    for (const each of rechecks) await each(request)
  }

  return {
    tag: 'users',
    method: 'GET',
    path: '/users/:id/subject',
    id: userId,
    scope: 'users:read',
    operationId: 'getSubject',
    summary: 'Read everything that is stored about a person',
    description: 'The user (even if deleted, until purged), the groups, the history, and the webhook deliveries ' +
      'that carried it, as one streamed document: for a request for access (GDPR, article 15). Needs the scope ' +
      `\`events:read\` too${hasGroups ? ', and `groups:read`' : ''}. ` +
      'The document is complete if the response ends as its framing says. HEAD works too.',
    success: { status: 200, description: 'The document.', is: 'Subject' },
    codes: ['validation_failed', 'user_not_found', 'rate_limited'],
    limitsItself: true,
    async handler ({ request, reply, faults, tenant }) {
      requireScopes(request, callerOf(request), needed, securityLog)
      requireNoFaults(faults)
      hold(request, reply)
      const stream = await limits.reads(() =>
        readingStream(begin(reply), textsOf(request.params.id, tenant), () => recheck(request)), shareOf(request))
      reply.type(`${JSON_TYPE}; charset=utf-8`)
      if (request.method !== 'HEAD') return reply.send(stream)
      stream.destroy()
      return reply.send(undefined)
    }
  }
}
