import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { UseCounter } from '../api-keys/use-counter.ts'
import type { Verifier } from '../api-keys/verifier.ts'
import { KEY_USES_DAYS } from '../core/limits.ts'
import { searchableOf } from '../fields/searched-fields.ts'
import { isStorageError } from '../storage/storage-error.ts'
import type { SchemaRequirements, Storage } from '../storage/storage.ts'
import { openInTime } from './opening.ts'
import type { CheckedOptions } from './options.ts'
import type { Membership } from './shared-storage.ts'

const PRUNE_MINUTES = 10
const PRUNED_TOGETHER = 1000
const DAY_MS = 24 * 60 * 60 * 1000

/** Deletes events that are older than the retention, a part at a time. */
async function pruneEvents ({ storage, eventLog }: CheckedOptions): Promise<void> {
  if (eventLog === null || storage.eventLog === undefined) return
  const before = new Date(Date.now() - eventLog.retention * 1000).toISOString()
  while (await storage.eventLog.prune(before, PRUNED_TOGETHER) === PRUNED_TOGETHER);
}

/** Deletes the uses of keys on old days, a part at a time. Without the option too: it may have been on. */
async function pruneUses ({ keyUses }: Storage): Promise<void> {
  if (keyUses === undefined) return
  const first = new Date(Date.now() - (KEY_USES_DAYS - 1) * DAY_MS).toISOString().slice(0, 10)
  while (await keyUses.prune(first, PRUNED_TOGETHER) === PRUNED_TOGETHER);
}

/** Prunes expired idempotency keys, old events and old uses of keys in the background. */
function pruneRegularly (log: FastifyBaseLogger, options: CheckedOptions): NodeJS.Timeout {
  const warn = (what: string) => () => {
    log.warn(`could not prune ${what}; retrying in ${PRUNE_MINUTES} minutes`)
  }
  const prune = async (): Promise<void> => {
    await options.storage.prune(new Date().toISOString()).catch(warn('expired idempotency keys'))
    await pruneEvents(options).catch(warn('old events'))
    await pruneUses(options.storage).catch(warn('old uses of API keys'))
  }
  return setInterval(prune, PRUNE_MINUTES * 60 * 1000).unref()
}

/** Leave newer tables to a newer version. `check()` decides whether this version works with them. */
function throwUnlessNewer (error: unknown): void {
  if (!isStorageError(error) || error.code !== 'schema_newer') throw error
}

/** Says which storage it is, and what an operator should know of it. */
async function announce (log: FastifyBaseLogger, { storage, decoratorName }: CheckedOptions): Promise<void> {
  const { driver, migrated } = storage
  const profile = migrated?.profile === undefined ? undefined : `profile ${migrated.profile}`
  const ways = [driver, profile].filter((each) => each !== undefined)
  const created = migrated?.created === true ? ', a new store without users and keys' : ''
  // Only warnings: if the storage fails here, requests will report it.
  const warnings = await storage.warnings?.().catch(() => []) ?? []
  for (const warning of warnings) log.warn(`fastify-users: ${storage.name}: ${warning}`)
  storage.standbys?.watch(({ name, problem }) => {
    if (problem === null) log.info(`fastify-users: ${storage.name}: ${name} is read`)
    else log.warn(`fastify-users: ${storage.name}: ${name} is left alone, and the primary is read: ${problem}`)
  })
  const where = `${storage.name}${ways.length === 0 ? '' : ` (${ways.join(', ')})`}`
  log.info(`fastify-users: app.${decoratorName} keeps its users in ${where}${created}`)
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
  const pruning = pruneRegularly(log, options)
  host.addHook('onClose', async () => {
    closing.abort()
    clearInterval(pruning)
    await Promise.all([verifier.close(), uses?.close()])
    if (membership.leave()) await storage.close()
  })
  const open = async (): Promise<void> => {
    if (migrate) await storage.migrate(requirements).catch(throwUnlessNewer)
    await storage.check(requirements)
    await announce(log, options)
  }
  try {
    return await openInTime(host, { storage, log, open, closing: closing.signal })
  } catch (error) {
    // Whoever catches it may never close this host.
    membership.leave()
    throw error
  }
}
