import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { UseCounter } from '../api-keys/use-counter.ts'
import type { Verifier } from '../api-keys/verifier.ts'
import { KEY_USES_DAYS } from '../core/limits.ts'
import { searchableOf } from '../fields/searched-fields.ts'
import { isStorageError } from '../storage/storage-error.ts'
import { doorOf } from '../storage/door.ts'
import type { Repository } from '../storage/repository.ts'
import type { Opened, SchemaRequirements } from '../storage/storage.ts'
import { openInTime } from './opening.ts'
import type { CheckedOptions } from './options.ts'
import type { Membership } from './shared-storage.ts'

const PRUNE_MINUTES = 10
const PRUNED_TOGETHER = 1000
const DAY_MS = 24 * 60 * 60 * 1000

/** Deletes events that are older than the retention, a part at a time. */
async function pruneEvents ({ events }: Repository, { eventLog }: CheckedOptions): Promise<void> {
  if (eventLog === null) return
  const before = new Date(Date.now() - eventLog.retention * 1000).toISOString()
  while (await events.prune(before, PRUNED_TOGETHER) === PRUNED_TOGETHER);
}

/** Deletes the uses of keys on old days, a part at a time. Without the option too: it may have been on. */
async function pruneUses ({ keyUses }: Repository): Promise<void> {
  const first = new Date(Date.now() - (KEY_USES_DAYS - 1) * DAY_MS).toISOString().slice(0, 10)
  while (await keyUses.prune(first, PRUNED_TOGETHER) === PRUNED_TOGETHER);
}

/** Prunes expired idempotency keys, old events and old uses of keys in the background. */
function pruneRegularly (log: FastifyBaseLogger, repository: Repository, options: CheckedOptions): NodeJS.Timeout {
  const warn = (what: string) => () => {
    log.warn(`could not prune ${what}; retrying in ${PRUNE_MINUTES} minutes`)
  }
  const prune = async (): Promise<void> => {
    await repository.prune(new Date().toISOString()).catch(warn('expired idempotency keys'))
    await pruneEvents(repository, options).catch(warn('old events'))
    await pruneUses(repository).catch(warn('old uses of API keys'))
    await options.storage.server?.upkeep?.().catch(warn('data that is no longer needed'))
  }
  return setInterval(prune, PRUNE_MINUTES * 60 * 1000).unref()
}

/** Leave newer tables to a newer version. Opening it without `migrate` decides whether this version works with them. */
function throwUnlessNewer (error: unknown): undefined {
  if (!isStorageError(error) || error.code !== 'schema_newer') throw error
}

/** Says which storage it is, and what an operator should know of it. */
async function announce (
  log: FastifyBaseLogger, { storage, decoratorName }: CheckedOptions, { created, profile }: Opened
): Promise<void> {
  const { name, server = {} } = storage
  const ways = [server.driver, profile && `profile ${profile}`].filter((each) => each !== undefined)
  const isNew = created ? ', a new store without users and keys' : ''
  // Only warnings: if the storage fails here, requests will report it.
  const warnings = await server.warnings?.().catch(() => []) ?? []
  for (const warning of warnings) log.warn(`fastify-users: ${name}: ${warning}`)
  server.standbys?.watch(({ name: standby, problem }) => {
    if (problem === null) log.info(`fastify-users: ${name}: ${standby} is used for reads`)
    else log.warn(`fastify-users: ${name}: ${standby} is not used, so reads go to the primary: ${problem}`)
  })
  const where = `${name}${ways.length === 0 ? '' : ` (${ways.join(', ')})`}`
  log.info(`fastify-users: app.${decoratorName} keeps its users in ${where}${isNew}`)
}

/**
 * Opens the storage for this mount. It is closed with the host of the last mount that it has in this process. Returns a
 * promise that it is open, which may be later.
 */
export async function openStorage (
  host: FastifyInstance,
  log: FastifyBaseLogger,
  verifier: Verifier,
  uses: UseCounter | null,
  repository: Repository,
  options: CheckedOptions,
  membership: Membership
): Promise<{ opened: Promise<void> }> {
  const { storage, migrate, fields } = options
  const { filterable = [], unique = [] } = fields ?? {}
  const searchable = searchableOf(fields ?? {})
  const requirements: SchemaRequirements = {
    filterable: filterable.map(({ field }) => field), unique, ...(searchable !== null && { searchable })
  }
  const closing = new AbortController()
  const pruning = pruneRegularly(log, repository, options)
  async function end (): Promise<void> {
    closing.abort()
    clearInterval(pruning)
    await Promise.all([verifier.close(), uses?.close()])
  }
  host.addHook('onClose', async () => {
    await end()
    if (membership.leave()) await storage.close()
  })
  const open = async (): Promise<void> => {
    const opened = migrate
      ? await storage.open({ ...requirements, migrate }).catch(throwUnlessNewer)
      : undefined
    await announce(log, options, opened ?? await storage.open(requirements))
  }
  try {
    return await openInTime(host, { storage: doorOf(storage), log, open, closing: closing.signal })
  } catch (error) {
    // Whoever catches it may never close this host, and may open the storage again.
    membership.leave()
    await end()
    throw error
  }
}
