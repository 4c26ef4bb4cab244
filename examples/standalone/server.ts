import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { closeOnSignal } from './close.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { loggerOptions } from './logger.ts'

/** Makes the first key of a new store and prints it immediately: it cannot be shown again, whatever happens next. */
async function printFirstKey (app: FastifyInstance, config: Config): Promise<string | null> {
  if (config.API_KEYS !== '') return null
  const first = await app.users.apiKeys.createFirst({
    name: 'first key',
    scopes: [
      'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
      'webhooks:write'
    ],
    expiresAt: null
  })
  if (first === null) return null
  process.stdout.write(`The first API key of this store, shown this once:\n\n  ${first.key}\n\n`)
  return first.key
}

async function start (): Promise<void> {
  const config = readConfig(process.env)
  const app = await buildApp(config, loggerOptions(config.LOG_LEVEL, process.stderr.isTTY))
  closeOnSignal(app)
  const firstKey = await printFirstKey(app, config)
  const address = await app.listen({ host: config.HOST, port: config.PORT })
  if (firstKey !== null) {
    const url = `${address}${config.PREFIX.replace(/\/+$/, '')}/users`
    process.stdout.write(`Try it:\n\n  curl -H 'Authorization: Bearer ${firstKey}' ${url}\n\n`)
  }
}

try {
  await start()
} catch (error) {
  process.stderr.write(
    error instanceof ConfigError
      ? `${error.message}\n`
      : `The service could not start: ${error instanceof Error ? error.message : String(error)}\n`
  )
  process.exit(1)
}
