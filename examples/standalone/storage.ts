import type { Storage } from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'
import { postgres } from 'fastify-users/adapters/postgres'
import { sqlite } from 'fastify-users/adapters/sqlite'
import type { Config } from './config.ts'

/** The storage that the configuration names. */
export async function storageFor ({
  DATABASE_URL: url,
  DATABASE_POOLER: pooler,
  SQLITE_DRIVER: driver,
  SQLITE_CREATE: create
}: Config): Promise<Storage> {
  if (url === 'memory:') return memory()
  if (url.startsWith('sqlite:')) {
    return sqlite({ filename: url.slice('sqlite:'.length), create, ...(driver !== 'auto' && { driver }) })
  }
  if (url.startsWith('lmdb:')) {
    // The example of an adapter of one's own: only who asks for it needs its package.
    const { lmdb } = await import('../custom-adapter/index.ts')
    return lmdb(url.slice('lmdb:'.length))
  }
  return postgres({ connection: url, pooler })
}
