import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { settleWithin } from '../core/settle.ts'
import { isStorageError } from '../storage/storage-error.ts'
import type { Door } from '../storage/door.ts'

// Shares of the time that Fastify lets a plugin start. A server that does not answer, and a locked file, fail in the
// first one, with its default of 10 seconds.
const SHARE = 0.6
const LEAST_SHARE = 0.05
const RETRY_MS = 2000
const PROGRESS_MS = 10_000

/** Milliseconds that mounts have waited on each server: one plugin may register them all, in its time. */
const waitedOn = new WeakMap<object, number>()

/** True if the work ends while a plugin may wait for it. @throws what the work throws meanwhile */
async function endsInTime ({ initialConfig, server }: FastifyInstance, work: Promise<void>): Promise<boolean> {
  const { pluginTimeout = 0 } = initialConfig
  let isSettled = false
  const settled = work.finally(() => { isSettled = true })
  if (pluginTimeout > 0) {
    const [waited, since] = [waitedOn.get(server) ?? 0, performance.now()]
    await settleWithin(Math.max(SHARE * pluginTimeout - waited, LEAST_SHARE * pluginTimeout), settled)
    waitedOn.set(server, waited + performance.now() - since)
    if (!isSettled) return false
  }
  await settled
  return true
}

/** A storage that is opened. */
export interface Opening {
  storage: Door
  log: FastifyBaseLogger
  /** Makes or migrates the tables, and checks them. It may be called again after an error. */
  open: () => Promise<void>
  /** Ends the attempts. */
  closing: AbortSignal
}

/** Waits for an opening that has begun, and repeats it while the storage is unavailable. */
async function finish (first: Promise<void>, { storage, log, open, closing }: Opening): Promise<void> {
  const since = performance.now()
  const what = `fastify-users: ${storage.name}: the storage`
  log.warn(`${what} takes long to open, such as for a migration of many users: it continues in the background, and ` +
    'requests get 503 until it is open')
  const progress = setInterval(() => {
    log.info(`${what} is still opening, after ${Math.round((performance.now() - since) / 1000)} s`)
  }, PROGRESS_MS).unref()
  try {
    for (let attempt = first; ; attempt = open()) {
      try {
        return await attempt
      } catch (error) {
        const why = isStorageError(error) ? error.message : 'an unexpected error'
        if (closing.aborted) throw error
        if (!isStorageError(error) || error.code !== 'unavailable') {
          log.error(`${what} could not be opened, so requests get 503 until the server is started again: ${why}`)
          throw error
        }
        log.warn(`${what} is not open yet, trying again in ${RETRY_MS / 1000} s: ${why}`)
        await setTimeout(RETRY_MS, undefined, { signal: closing, ref: false }).catch(() => { throw error })
      }
    }
  } finally {
    clearInterval(progress)
  }
}

/**
 * Opens a storage, and waits for it as long as a plugin may. If that is not enough, Fastify's limit must not end a
 * migration: it goes on, and until its end the calls of the storage are refused. Returns a promise of that end.
 * @throws what opening it throws while it is waited for
 */
export async function openInTime (host: FastifyInstance, opening: Opening): Promise<{ opened: Promise<void> }> {
  const first = opening.open()
  if (await endsInTime(host, first)) return { opened: first }
  const allow = opening.storage.refuseCalls()
  const opened = finish(first, opening).then(allow)
  // Its error is logged, and whoever waits gets it.
  opened.catch(() => {})
  return { opened }
}
