import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { TrashOption } from '../users/deletions.ts'
import type { UsersService } from '../users/service.ts'

const INTERVAL_MS = 10 * 60 * 1000

/**
 * Purges deleted users whose retention has ended, in the background: every ten minutes, or as often as the retention is
 * long. Several processes may do it at the same time.
 */
export function purgeRegularly (
  host: FastifyInstance,
  log: FastifyBaseLogger,
  { purgeExpired }: Pick<UsersService, 'purgeExpired'>,
  { retention }: TrashOption
): void {
  let isOpen = true
  let running: Promise<void> | null = null
  const interval = Math.min(INTERVAL_MS, retention * 1000)

  async function purge (): Promise<void> {
    try {
      const count = await purgeExpired(new Date(Date.now() - retention * 1000).toISOString(), () => isOpen)
      if (count > 0) log.info({ users: count }, 'deleted users were purged, because their retention has ended')
    } catch {
      log.warn(`could not purge deleted users; retrying in ${interval / 1000} s`)
    }
    running = null
  }

  const timer = setInterval(() => { running ??= purge() }, interval).unref()
  // Before the storage is closed: hooks of what was registered later are called first.
  host.addHook('onClose', async () => {
    isOpen = false
    clearInterval(timer)
    await running
  })
}
