import { buildApp } from './app.ts'
import { closeOnSignal } from './close.ts'
import { ConfigError, ignoredVariables, readConfig } from './config.ts'
import { createFirstKey, requireFreePort } from './first-key.ts'
import { loggerOptions } from './logger.ts'

/** What a person who has just started the service is shown. */
function welcome (key: string, file: string, users: string): string {
  if (file !== '') return `The first API key of this store is in ${file}.\n\n`
  return `The first API key of this store, shown this once:\n\n  ${key}\n\n` +
    `Try it:\n\n  curl -H 'Authorization: Bearer ${key}' ${users}\n\n`
}

async function start (): Promise<void> {
  // A log on a full disk, or whose reader has gone, must not end the service.
  process.stderr.on('error', () => {})
  // Database files, and the file of the first key, are for the account of the service alone.
  process.umask(0o077)
  const config = readConfig(process.env)
  await requireFreePort(config)
  const app = await buildApp(config, loggerOptions(config.LOG_LEVEL, process.stderr.isTTY))
  closeOnSignal(app)
  for (const line of ignoredVariables(process.env)) app.log.warn(line)
  const key = await createFirstKey(app, config)
  const address = await app.listen({ host: config.HOST, port: config.PORT }).catch((error: unknown) => {
    // Somebody has taken the port at this very moment. A key that is there must be seen.
    if (key !== null) process.stdout.write(welcome(key, config.FIRST_KEY_FILE, ''))
    throw error
  })
  if (key === null) return
  process.stdout.write(welcome(key, config.FIRST_KEY_FILE, `${address}${config.PATH_PREFIX.replace(/\/+$/, '')}/users`))
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
