import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { markOf, pepperMark } from '../api-keys/key-text.ts'
import { ID_LENGTH } from '../core/ids.ts'
import { trustProxyOf } from '../http/fastify-internals.ts'
import type { Repository } from '../storage/repository.ts'
import { endOf } from '../storage/storage-rules.ts'
import type { CheckedOptions } from './options.ts'

const NEWEST_KEYS = 100

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

/**
 * Waits for routes to be registered.
 * @throws Error that says to set another prefix, if the host has one of them already, such as by another mount
 */
export async function withOwnPrefix (plugin: string, registered: PromiseLike<unknown>): Promise<void> {
  try {
    await registered
  } catch (cause) {
    const { code, message } = Object(cause)
    if (code !== 'FST_ERR_DUPLICATED_ROUTE') throw cause
    throw Object.assign(new Error(`${plugin}: ${message}: set another prefix`, { cause }), { code })
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

/** Warns, once the host is ready, if every request will be refused because no key can be accepted. */
export function warnOfKeys (
  host: FastifyInstance,
  log: FastifyBaseLogger,
  { apiKeys }: Repository,
  { apiKeys: { static: staticKeys, pepper: peppers }, authenticate, decoratorName }: CheckedOptions
): void {
  // Other callers than those with stored keys are admitted too: a start need not wait for a list of these.
  if (staticKeys.length > 0 || authenticate !== undefined) return
  host.addHook('onReady', async () => {
    // Only for a warning: if the storage fails here, requests will report it.
    const keys = await apiKeys.list({ from: { offset: 0 }, limit: NEWEST_KEYS, order: 'desc' }).catch(() => null)
    if (keys === null) return
    if (keys.total === 0) {
      log.warn('there is no API key yet, so every request is refused: create one with ' +
        `app.${decoratorName}.apiKeys.createFirst({ name }), or set the option apiKeys.static`)
      return
    }
    const active = keys.items.filter((key) => Date.now() < endOf(key))
    const marks = (peppers.length === 0 ? [undefined] : peppers).map(pepperMark)
    if (active.length === 0 || active.some(({ digest }) => marks.includes(markOf(digest)))) return
    const problem = peppers.length === 0 ? 'is not set' : 'has none with which they were made'
    log.warn(`the newest active API keys are refused, because the option apiKeys.pepper ${problem}: set the one that ` +
      'made them (FASTIFY_USERS_PEPPER of the standalone service)')
  })
}
