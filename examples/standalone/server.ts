import { setImmediate } from 'node:timers/promises'
import { buildApp } from './app.ts'
import { closeOnSignal } from './close.ts'
import { baseOf, type Config, ConfigError, ignoredVariables, prefixOf, readConfig } from './config.ts'
import { createFirstKey, requireFreePort } from './first-key.ts'
import { loggerOptions } from './logger.ts'

/** How the first key is shown: this once. */
function keyLine (key: string, file: string): string {
  return file === ''
    ? `  Key     ${key}\n          (the first of this store, shown this once)\n\n`
    : `  Key     in ${file} (the first of this store)\n\n`
}

/** What a person who has just started the service is shown. */
function welcome (address: string, config: Config, key: string | null): string {
  const [base, api] = [`${address}${baseOf(config)}`, `${address}${prefixOf(config)}`]
  const file = config.FIRST_KEY_FILE
  const bearer = key === null ? '"Authorization: Bearer $KEY"' : `'Authorization: Bearer ${key}'`
  return 'fastify-users is ready.\n\n' +
    (key === null ? '' : keyLine(key, file)) +
    `  curl -H ${file === '' ? bearer : `"Authorization: Bearer $(cat ${file})"`} ${api}/users\n\n` +
    `  API     ${api}\n` +
    (config.ADMIN_PAGE ? `  Page    ${base}/admin/\n` : '') +
    `  Docs    ${base}/docs\n` +
    `  Health  ${base}/health\n\n`
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
  let isClosing = false
  app.addHook('preClose', async () => { isClosing = true })
  // Whatever is logged besides: nothing else says that a setting has no effect.
  const warnings = app.log.child({}, { level: 'warn' })
  for (const line of ignoredVariables(process.env)) warnings.warn(line)
  // Where tables are migrated for long, `/health` and `/ready` are answered meanwhile.
  const isOpen = await Promise.race([app.users.ready().then(() => true), setImmediate(false)])
  const early = isOpen ? await createFirstKey(app, config) : null
  const address = await app.listen({ host: config.HOST, port: config.PORT }).catch((error: unknown) => {
    // Somebody has taken the port at this very moment. A key that is there must be seen.
    if (early !== null) process.stdout.write(keyLine(early, config.FIRST_KEY_FILE))
    throw error
  })
  await app.users.ready().catch((error: unknown) => { if (!isClosing) throw error })
  if (isClosing) return
  const key = isOpen ? early : await createFirstKey(app, config)
  process.stdout.write(welcome(address, config, key))
}

/** Why it could not start. What the storage says has more for an operator than what its callers get. */
function reasonOf (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.name === 'StorageError' ? cause.message : error.message
}

try {
  await start()
} catch (error) {
  process.stderr.write(
    error instanceof ConfigError ? `${error.message}\n` : `The service could not start: ${reasonOf(error)}\n`
  )
  process.exit(1)
}
