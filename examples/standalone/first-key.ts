import { once } from 'node:events'
import { fstatSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ApiKey, Scope } from 'fastify-users'
import { type Config, ConfigError } from './config.ts'

const ALL: Scope[] = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write', 'groups:read', 'groups:write', 'scim:users', 'scim:groups'
]

const OF_TENANTS: Scope[] = ['tenants:read', 'tenants:delete']

const NAME = 'first key'
// A start revokes within this time what it can't print. A key that a person has revoked later was seen.
const START_MS = 60_000
const LISTED = 100

// More than the text of a key has.
const KEY_BYTES = 256

/** A file for a secret, of mode 0600, which must not exist yet. */
async function createFile (path: string) {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    const { code } = Object(error)
    if (code === 'EEXIST') throw new ConfigError(['FIRST_KEY_FILE must be the path of a file that does not exist yet'])
    throw new ConfigError([code === 'ENOENT'
      ? 'FIRST_KEY_FILE must be a path in a directory that exists: create the directory first'
      : `FIRST_KEY_FILE must be a path in a directory that can be written to (${code})`])
  }
}

/** True if nobody can see what is printed. For a closed standard output Node.js opens /dev/null. */
function isOutputNull (): boolean {
  try {
    const output = fstatSync(1)
    return output.isCharacterDevice() && output.rdev === statSync('/dev/null').rdev
  } catch {
    return false
  }
}

/** True for a first key that a start has revoked, because it could not print it. */
function isUnseen ({ name, createdAt, revokedAt, lastUsedAt }: ApiKey): boolean {
  return name === NAME && revokedAt !== undefined && lastUsedAt === undefined &&
    Date.parse(revokedAt) - Date.parse(createdAt) < START_MS
}

/** A key that is to be shown. */
export interface FirstKey { id: string, key: string }

/**
 * Makes the first key of a store that has none, or only those that nobody has seen, and writes it to a file if the
 * configuration names one; null: it is not needed, or nobody could see it.
 * @throws ConfigError before there is a key, since its text could not be shown again
 */
export async function createFirstKey (app: FastifyInstance, config: Config): Promise<FirstKey | null> {
  const { apiKeys } = app.users
  if (config.API_KEYS !== '') return null
  const { data, meta: { total } } = await apiKeys.list({ limit: LISTED })
  if (total > 0 && !(total <= LISTED && data.every(isUnseen))) return null
  const path = config.FIRST_KEY_FILE
  if (path === '' && isOutputNull()) {
    const warnings = app.log.child({}, { level: 'warn' })
    warnings.warn('no first key was made, because standard output is closed or /dev/null: start the service with one ' +
      'that you can read, or set FIRST_KEY_FILE')
    return null
  }
  const file = path === '' ? null : await createFile(path)
  let isWritten = false
  try {
    // Room on the disk, before there is a key.
    await file?.writeFile(' '.repeat(KEY_BYTES))
    await file?.sync()
    const scopes = config.TENANTS ? [...ALL, ...OF_TENANTS] : ALL
    const values = { name: NAME, scopes, expiresAt: null }
    const first = total === 0 ? await apiKeys.createFirst(values) : await apiKeys.create(values)
    if (first !== null && file !== null) {
      const { bytesWritten } = await file.write(`${first.key}\n`, 0)
      await file.truncate(bytesWritten)
      isWritten = true
    }
    return first
  } finally {
    await file?.close()
    // Another process has made the key meanwhile, or it failed: the next start needs a file that is not there.
    if (file !== null && !isWritten) await rm(path)
  }
}

/** Which variable is wrong where the service can't listen. */
export function listenError (error: unknown): Error {
  const { code, message } = Object(error)
  return new Error(`${code === 'EADDRINUSE' || code === 'EACCES' ? 'PORT' : 'HOST'}: ${message}`)
}

/** Fails as listening would, before there is a key that could not be shown. */
export async function requireFreePort ({ HOST: host, PORT: port }: Config): Promise<void> {
  const probe = createServer()
  probe.listen({ host, port, exclusive: true })
  await once(probe, 'listening').catch((error: unknown) => { throw listenError(error) })
  probe.close()
  await once(probe, 'close')
}
