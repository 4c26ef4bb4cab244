import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ApiKeysService } from '../api-keys/service.ts'
import { ID_LENGTH } from '../core/ids.ts'
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
    const problem = `app.${decoratorName} exists already: set another name with the option decoratorName`
    throw new Error(`fastify-users: ${problem}`)
  }
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
