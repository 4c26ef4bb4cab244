// The API over HTTP, for browsers, Node.js, Bun, Deno and workers: it needs nothing but fetch.
import type { Versions } from '../lib/users/write-options.ts'
import { ClientError, errorOf } from './error.ts'
import { follow, paged, streamed } from './events.ts'
import { type OperationId, operations } from './operations.ts'
import { randomKey } from './random-key.ts'
import { bytesOf, rowsOf, streamOf } from './streams.ts'
import { type ClientOptions, createTransport, jsonOf, type Request, wait } from './transport.ts'
import type { Change, UsersClient } from './types.ts'
import { inWords, requireNoText } from './words.ts'

export { ClientError, type ClientErrorCode } from './error.ts'
export type { OperationId } from './operations.ts'
export type { CallOptions, ClientOptions, Request } from './transport.ts'
export type * from './types.ts'

type Params = Readonly<Record<string, string>>

/** How often a change is made anew because somebody else was faster. */
const CHANGES_MAX = 100
/** An id before all others: a list after it is a walk, which nothing moves. */
const FIRST = 'usr_00000000000000000000000000'
const REMOVAL_MS = 500
/** What stands in a path: an id of any kind, or the name of a tenant. */
const ID = /^[a-z]{3}_[0-9a-z]{26}$/
const TENANT = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** The entity tags of versions. */
const tagsOf = (versions: Versions | undefined): string | undefined =>
  versions === undefined || versions === '*' ? versions : [versions].flat().map((version) => `"${version}"`).join(', ')

interface Guarded { ifMatch?: Versions, ifNoneMatch?: Versions, idempotencyKey?: string }

/** The options of a write as headers, and what is left for the query. */
function split ({ ifMatch, ifNoneMatch, idempotencyKey, ...query }: Guarded): Request {
  const headers = { 'if-match': tagsOf(ifMatch), 'if-none-match': tagsOf(ifNoneMatch) }
  return { headers: { ...headers, 'idempotency-key': idempotencyKey }, query }
}

/** The same of a write that makes nothing twice when it is sent again. */
const once = (options: Guarded = {}): Request =>
  split({ ...options, idempotencyKey: options.idempotencyKey ?? randomKey() })

/** The parameter of a link to the next page (RFC 8288) that says where it begins; undefined: it is the last page. */
function nextOf (response: Response): Params | undefined {
  const [, query] = /<[^>?]*\?([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
  if (query === undefined) return undefined
  return Object.fromEntries([...new URLSearchParams(query)].filter(([name]) => /^(page|after|cursor)$/.test(name)))
}

/** Makes a client of an API. `Fields`: the host’s own. */
export function createClient<Fields = object> (options: ClientOptions): UsersClient<Fields> {
  if (typeof options.key !== 'string' && typeof options.key !== 'function') {
    throw new TypeError('fastify-users/client: key must be the text of a key or a function')
  }
  const send = inWords(createTransport(options))
  const asked = <Value>(
    operation: OperationId, { params = {}, ...sent }: Request & { params?: Params },
    read: (response: Response) => Value | Promise<Value>
  ): Promise<Value> => {
    const [method, template] = operations[operation]
    const [, collection = ''] = template.split('/')
    const form = collection === 'tenants' ? TENANT : ID
    const path = template.replace(/\{(\w+)\}/g, (whole, name) => {
      const { [name]: value = '' } = params
      return form.test(value) ? value : whole
    })
    // A dot would lead to another path, and so would a word that has a meaning there: they stay out.
    if (path.includes('{')) {
      return Promise.reject(errorOf(404, { code: `${collection.replace('-', '_').slice(0, -1)}_not_found` }))
    }
    return send({ method, path, ...sent }, read)
  }
  const call = (operation: OperationId, params: Params = {}, sent: Request = {}) =>
    asked(operation, { params, ...sent }, jsonOf)
  const pages = (operation: OperationId, params: Params, query: object = {}) =>
    asked(operation, { params, query }, async (response) => {
      const { cursor: next } = nextOf(response) ?? {}
      return { ...await jsonOf(response), ...next !== undefined && { next } }
    })
  // Methods of the usual shapes.
  const one = (operation: OperationId) => (id: string) => call(operation, { id })
  const list = (operation: OperationId) => (query?: object) => pages(operation, {}, query)
  const below = (operation: OperationId) => (id: string, query?: object) => pages(operation, { id }, query)
  const make = (operation: OperationId) => (body: unknown, given?: Guarded) =>
    call(operation, {}, { ...once(given), body })
  const write = (operation: OperationId) => (id: string, body: unknown, given: Guarded = {}) =>
    call(operation, { id }, { ...split(given), body })
  const bare = (operation: OperationId, isRepeatable = false) => (id: string, given: object = {}) =>
    call(operation, { id }, { ...split(given), ...isRepeatable && { isRepeatable } })
  const act = (operation: OperationId) => (id: string, body?: unknown, given?: Guarded) =>
    call(operation, { id }, { ...once(given), ...body !== undefined && { body } })
  const member = (operation: OperationId) => (id: string, user: string) =>
    call(operation, { id, user }, { isRepeatable: true })

  async function decide (id: string, change: Change<Fields>, given: Guarded) {
    for (let tries = 1; ; tries++) {
      const user = await call('getUser', { id })
      const body = await change(user)
      if (body === null) return user
      try {
        return await call('updateUser', { id }, { ...split({ ifMatch: user.version, ...given }), body })
      } catch (error) {
        const isLate = error instanceof ClientError && error.code === 'precondition_failed'
        if (!isLate || tries === CHANGES_MAX || given.ifMatch !== undefined) throw error
      }
    }
  }

  async function * iterate (query: { sort?: string, ids?: unknown } = {}, { snapshot = false } = {}) {
    if (snapshot) {
      yield * rowsOf(await asked('exportUsers', { query }, (each) => each), options.signal)
      return
    }
    const isByCreation = (query.sort ?? 'createdAt') === 'createdAt' && query.ids === undefined
    const { pageSize: limit } = options
    for (let place: Params | undefined = isByCreation ? { after: FIRST } : {}; place !== undefined;) {
      let next: Params | undefined
      const { data } = await asked('listUsers', { query: { ...query, limit, ...place } }, (response) => {
        next = nextOf(response)
        return jsonOf(response)
      })
      yield * data
      place = next
    }
  }

  async function removeTenant (id: string): Promise<void> {
    const { signal } = options
    try {
      for (;;) {
        // If the server stops before the end, another goes on.
        await call('deleteTenant', { id }, { isRepeatable: true })
        while ((await call('getTenant', { id })).status === 'deleting') await wait(REMOVAL_MS, signal)
      }
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'tenant_not_found') throw error
    }
  }

  return {
    create: make('createUser'),
    get: one('getUser'),
    list: list('listUsers'),
    update: (id, change, given = {}) =>
      typeof change === 'function' ? decide(id, change, given) : write('updateUser')(id, change, given),
    replace: write('replaceUser'),
    delete: bare('deleteUser'),
    restore: (id, given) => act('restoreUser')(id, undefined, given),
    listDeleted: list('listDeletedUsers'),
    batch: (given, { atomic, ...others } = {}) => {
      const rows = given.map((each) => 'ifMatch' in each ? { ...each, ifMatch: tagsOf(each.ifMatch) } : each)
      return asked('writeUsers', { ...once(others), body: { operations: rows, atomic } }, async (response) => {
        const { data } = await jsonOf(response)
        const results: Array<ReturnType<typeof JSON.parse>> = data
        return {
          data: results.map(({ status, body }) => status < 400
            ? { status, user: body, error: null }
            : { status, user: null, error: errorOf(status, body) }),
          replayed: response.headers.has('idempotency-replayed')
        }
      })
    },
    iterate,
    async import (source, { format, onResult, ...query } = {}) {
      requireNoText(source)
      const failures: unknown[] = []
      const content = source instanceof Blob || source instanceof ReadableStream
        ? source
        : streamOf(source, format !== undefined, (error) => failures.push(error))
      try {
        const response = await asked('importUsers', {
          query: { ...query, report: onResult === undefined ? 'none' : 'all' },
          content,
          // A stream can be read once.
          ...content instanceof ReadableStream && { triesMax: 1 },
          headers: { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' },
          timeoutMs: options.timeoutMs ?? Infinity
        }, (each) => each)
        for await (const result of rowsOf(response, options.signal)) {
          if (result.summary !== undefined) return result.summary
          await onResult?.(result)
        }
        // What was imported so far is kept.
        throw new ClientError('network', response.status)
      } catch (error) {
        throw failures.length > 0 ? failures[0] : error
      }
    },
    async export (query = {}) {
      const response = await asked('exportUsers', { query }, (each) => each)
      const isFile = /ndjson|csv/.test(response.headers.get('content-type') ?? '')
      if (!isFile) throw new ClientError('unreadable', response.status)
      return streamOf(bytesOf(response, options.signal), true)
    },
    revert: (id, event, given) => act('revertUser')(id, { event }, given),
    subject: one('getSubject'),
    groups: {
      create: make('createGroup'),
      get: one('getGroup'),
      list: list('listGroups'),
      update: write('updateGroup'),
      delete: bare('deleteGroup'),
      members: below('listGroupMembers'),
      changeMembers: (id, body) => call('changeGroupMembers', { id }, { body, isRepeatable: true }),
      of: below('listUserGroups'),
      addMember: member('addGroupMember'),
      removeMember: member('removeGroupMember')
    },
    apiKeys: {
      create: make('createApiKey'),
      get: one('getApiKey'),
      list: list('listApiKeys'),
      rotate: act('rotateApiKey'),
      uses: one('listApiKeyUses'),
      revoke: bare('revokeApiKey', true),
      revokeCurrent: (query = {}) => call('revokeCurrentApiKey', {}, { query })
    },
    events: {
      list: list('listEvents'),
      after: (id = null, given = {}) => {
        const { signal = options.signal, ...query } = given
        const { pollMs } = options
        const parts = pollMs === undefined ? streamed(send) : paged(send, pollMs)
        return follow(parts, id, { ...query, ...signal && { signal } })
      },
      ofUser: below('listUserEvents')
    },
    webhooks: {
      create: make('createWebhook'),
      get: one('getWebhook'),
      list: list('listWebhooks'),
      update: write('updateWebhook'),
      delete: bare('deleteWebhook'),
      rotateSecret: act('rotateWebhookSecret'),
      test: bare('testWebhook'),
      replay: write('replayWebhook'),
      deliveries: below('listDeliveries'),
      retry: (id, delivery) => call('retryDelivery', { id, delivery })
    },
    tenants: { list: list('listTenants'), get: one('getTenant'), remove: removeTenant },
    capabilities: () => call('getCapabilities'),
    tenant: (tenant) => createClient<Fields>({ ...options, tenant }),
    with: (given) => createClient<Fields>({ ...options, ...given }),
    request: (operation, sent = {}) => asked(operation, sent, (response) => response)
  }
}
