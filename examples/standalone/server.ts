import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { closeOnSignal } from './close.ts'
import { baseOf, type Config, ConfigError, ignoredVariables, prefixOf, readConfig } from './config.ts'
import { createFirstKey, type FirstKey, listenError, requireFreePort } from './first-key.ts'
import { loggerOptions } from './logger.ts'
import { withVariables } from './origins.ts'

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

/** Writes to standard output. The code of what went wrong, such as EPIPE; null: nothing. */
async function print (text: string): Promise<string | null> {
  return new Promise((resolve) => {
    process.stdout.write(text, (error) => resolve(error == null ? null : String(Object(error).code)))
  })
}

/** Shows where the service is, and its first key. One that can't be shown is revoked: the next start makes another. */
async function show (app: FastifyInstance, text: string, first: FirstKey | null, file: string): Promise<void> {
  const problem = await print(text)
  if (problem === null) return
  const warnings = app.log.child({}, { level: 'warn' })
  if (first === null || file !== '') {
    warnings.warn(`standard output could not be written (${problem}), and the service runs without it`)
    return
  }
  const revoked = app.users.apiKeys.revoke(first.id).then(() => 'it was revoked', () =>
    `it must be revoked: run fastify-users keys revoke ${first.id}`)
  warnings.error(`the first key could not be printed (${problem}), so ${await revoked}. Start the service again with ` +
    'a standard output that can be written, or with FIRST_KEY_FILE: it makes another key')
}

async function start (config: Config): Promise<void> {
  // A log on a full disk, or whose reader has gone, must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  // Database files, and the file of the first key, are for the account of the service alone.
  process.umask(0o077)
  const { FIRST_KEY_FILE: file } = config
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
  // Where there will be no welcome, a key that is there must be seen.
  const showEarly = async (): Promise<void> => {
    if (early !== null) await show(app, keyLine(early.key, file), early, file)
  }
  const address = await app.listen({ host: config.HOST, port: config.PORT }).catch(async (error: unknown) => {
    // Somebody has taken the port at this very moment.
    await showEarly()
    throw Object(error).syscall === undefined ? error : listenError(error)
  })
  await app.users.ready().catch((error: unknown) => { if (!isClosing) throw error })
  if (isClosing) return showEarly()
  const first = isOpen ? early : await createFirstKey(app, config)
  await show(app, welcome(address, config, first?.key ?? null), first, file)
}

try {
  const config = readConfig(process.env)
  await start(config).catch((error: unknown) => { throw withVariables(error, config) })
} catch (error) {
  const { message } = error instanceof Error ? error : { message: String(error) }
  process.stderr.write(error instanceof ConfigError ? `${message}\n` : `The service could not start: ${message}\n`)
  process.exit(1)
}
