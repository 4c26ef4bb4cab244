import { once } from 'node:events'
import { open, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Scope } from 'fastify-users'
import { type Config, ConfigError } from './config.ts'

const ALL: Scope[] = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write', 'groups:read', 'groups:write', 'scim:users', 'scim:groups'
]

const OF_TENANTS: Scope[] = ['tenants:read', 'tenants:delete']

// More than the text of a key has.
const KEY_BYTES = 256

/** A file for a secret, of mode 0600, which must not exist yet. */
async function createFile (path: string) {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    const { code } = Object(error)
    throw new ConfigError([code === 'EEXIST'
      ? 'FIRST_KEY_FILE must be the path of a file that does not exist yet'
      : `FIRST_KEY_FILE must be a path in a directory that can be written to (${code})`])
  }
}

/**
 * Makes the first key of a new store, and writes it to a file if the configuration names one; null: the store has keys.
 * @throws ConfigError before there is a key, since its text could not be shown again
 */
export async function createFirstKey (app: FastifyInstance, config: Config): Promise<string | null> {
  const { apiKeys } = app.users
  if (config.API_KEYS !== '' || (await apiKeys.list({ limit: 1 })).meta.total > 0) return null
  const path = config.FIRST_KEY_FILE
  const file = path === '' ? null : await createFile(path)
  let isWritten = false
  try {
    // Room on the disk, before there is a key.
    await file?.writeFile(' '.repeat(KEY_BYTES))
    await file?.sync()
    const scopes = config.TENANTS ? [...ALL, ...OF_TENANTS] : ALL
    const first = await apiKeys.createFirst({ name: 'first key', scopes, expiresAt: null })
    if (first !== null && file !== null) {
      const { bytesWritten } = await file.write(`${first.key}\n`, 0)
      await file.truncate(bytesWritten)
      isWritten = true
    }
    return first?.key ?? null
  } finally {
    await file?.close()
    // Another process has made the key meanwhile, or it failed: the next start needs a file that is not there.
    if (file !== null && !isWritten) await rm(path)
  }
}

/** Fails as listening would, before there is a key that could not be shown. */
export async function requireFreePort ({ HOST: host, PORT: port }: Config): Promise<void> {
  const probe = createServer()
  probe.listen({ host, port, exclusive: true })
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}
