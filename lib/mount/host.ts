import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ApiKeysService } from '../api-keys/service.ts'
import { ID_LENGTH } from '../core/ids.ts'
import { trustProxyOf } from '../http/fastify-internals.ts'
import type { CheckedOptions } from './options.ts'

/** The host's router settings that affect us. Hosts on older versions of Fastify 5 set them at the top level. */
export function routerSettings (host: FastifyInstance): { maxParamLength: number, useSemicolonDelimiter: boolean } {
  const { routerOptions = {}, maxParamLength = 100, useSemicolonDelimiter = false } = host.initialConfig
  return { maxParamLength, useSemicolonDelimiter, ...routerOptions }
}

/** @throws Error if the host can't take the plugin with these options */
export function requireFit (host: FastifyInstance, { decoratorName }: CheckedOptions): void {
  const { maxParamLength } = routerSettings(host)
  if (maxParamLength < ID_LENGTH) {
    const problem = `the router's maxParamLength is ${maxParamLength}, but ids have ${ID_LENGTH} characters`
    throw new Error(`fastify-users: ${problem}`)
  }
  if (host.hasDecorator(decoratorName)) {
    const problem = `app.${decoratorName} already exists: set another name with the option decoratorName`
    throw new Error(`fastify-users: ${problem}`)
  }
}

/** The names under which mounts keep their callers, by host. */
const callerNames = new WeakMap<object, Set<string>>()

/**
 * Makes the function that gives requests a member for who a guard let in, when the first guard is made: a host without
 * guards keeps its names.
 * @throws Error (by the function) if the host's requests have such a member
 */
export function callerDecoration (host: FastifyInstance): (name: string) => void {
  const isStarted = () => Reflect.get(host, 'server')?.listening === true
  return (name) => {
    const named = callerNames.get(host) ?? new Set<string>()
    callerNames.set(host, named)
    if (named.has(name) || isStarted()) return
    if (host.hasRequestDecorator(name)) {
      throw new Error(`fastify-users: request.${name} already exists: set another name with the option callerName`)
    }
    host.decorateRequest(name, null)
    named.add(name)
  }
}

/** Warns, when the host starts, of a trustProxy that trusts nobody. */
export function warnOfTrust (host: FastifyInstance, log: FastifyBaseLogger): void {
  if (typeof trustProxyOf(host) !== 'number') return
  log.warn('the server’s trustProxy is a number, and Fastify 5.12 and later then trust no proxy, so every client has ' +
    'the address of the last proxy: set it to the addresses or networks of your proxies instead')
}

/** Makes the function that warns of the first request that came through a proxy, if the host trusts none. */
export function proxyWarning (host: FastifyInstance, log: FastifyBaseLogger): (scope: FastifyInstance) => void {
  if (trustProxyOf(host)) return () => {}
  let isSaid = false
  return (scope) => scope.addHook('onRequest', (request, _reply, done) => {
    if (!isSaid && request.headers['x-forwarded-for'] !== undefined) {
      isSaid = true
      log.warn('a request has X-Forwarded-For, but the server trusts no proxy, so all clients of a proxy have its ' +
        'address: limits.failures then refuses all if one sends wrong keys, and addresses of keys do not match. Name ' +
        'the proxy in the option trustProxy of Fastify (TRUST_PROXY of the standalone service)')
    }
    done()
  })
}

/** Warns, once the host is ready, if every request will be refused because there is no key. */
export function warnWithoutKeys (
  host: FastifyInstance,
  log: FastifyBaseLogger,
  apiKeys: ApiKeysService,
  { apiKeys: { static: staticKeys }, authenticate, decoratorName }: CheckedOptions
): void {
  if (staticKeys.length > 0 || authenticate !== undefined) return
  host.addHook('onReady', async () => {
    // Only for a warning: if the storage fails here, requests will report it.
    const keys = await apiKeys.list({ limit: 1 }).catch(() => null)
    if (keys === null || keys.total > 0) return
    log.warn('there is no API key yet, so every request is refused: create one with ' +
      `app.${decoratorName}.apiKeys.createFirst({ name }), or set the option apiKeys.static`)
  })
}
