import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { loggerOptions } from './logger.ts'

const CLOSE_LIMIT_MS = 10_000
const SWEEP_MS = 50

/** Ends the service on a signal: no new connections, an answer to everything in flight, then the storage. */
function closeOnSignal (app: FastifyInstance): void {
  closeWithGrace({ delay: CLOSE_LIMIT_MS, logger: app.log }, async ({ signal, err }) => {
    if (err === undefined) app.log.info({ signal }, 'closing')
    else app.log.fatal({ err }, 'closing after an error')
    // A keep-alive connection that falls idle after the close began would hold it for its whole timeout.
    const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
    await app.close()
    clearInterval(sweep)
  })
}

/** Makes the first key of a new store and prints it at once: it can't be had again, whatever happens next. */
async function printFirstKey (app: FastifyInstance, config: Config): Promise<string | null> {
  if (config.API_KEYS !== '') return null
  const first = await app.users.apiKeys.createFirst({ name: 'first key', scopes: ['users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write'] })
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
  process.stderr.write(error instanceof ConfigError ? `${error.message}\n` : `The service could not start: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
