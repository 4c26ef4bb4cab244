import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Storage } from 'fastify-users'
import { mariadb } from 'fastify-users/adapters/mariadb'
import { memory } from 'fastify-users/adapters/memory'
import { postgres } from 'fastify-users/adapters/postgres'
import { sqlite } from 'fastify-users/adapters/sqlite'
import { type Config, ConfigError, replicasOf } from './config.ts'

const DRIVERS = ['better-sqlite3', 'node:sqlite', '@photostructure/sqlite', 'sqlite3'] as const

const isDriver = (name: string): name is typeof DRIVERS[number] => DRIVERS.some((each) => each === name)

/**
 * Only ./data is created, however its path is written: with any other, a typo would start on an empty store.
 * @throws ConfigError
 */
function requireDirectory (path: string): void {
  const directory = dirname(resolve(path))
  const parent = dirname(directory)
  const isData = basename(directory) === 'data' && existsSync(parent) && realpathSync(parent) === realpathSync('.')
  if (isData || statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return
  throw new ConfigError(['DATABASE_URL must be a path in a directory that exists: create the directory first'])
}

/**
 * The storage that the configuration names.
 * @throws ConfigError for a path in a directory that does not exist
 */
export async function storageFor ({
  DATABASE_URL: url,
  DATABASE_REPLICAS: replicas,
  DATABASE_POOLER: pooler,
  DATABASE_POOL_SIZE: max,
  SQLITE_DRIVER: driver,
  SQLITE_CREATE: create
}: Config): Promise<Storage> {
  if (url === 'memory:') return memory()
  if (url.startsWith('sqlite:')) {
    const filename = url.slice('sqlite:'.length)
    requireDirectory(filename)
    return sqlite({ filename, create, ...(isDriver(driver) && { driver }) })
  }
  if (url.startsWith('lmdb:')) {
    // The example of an adapter of one's own: only who asks for it needs its package.
    const { lmdb } = await import('../custom-adapter/index.ts')
    const path = url.slice('lmdb:'.length)
    requireDirectory(path)
    return lmdb(path)
  }
  if (url.startsWith('mariadb:')) return mariadb({ connection: url, ...(max > 0 && { pool: { max } }) })
  return postgres({
    connection: url,
    replicas: replicasOf(replicas),
    pooler,
    ...(max > 0 && { pool: { max } })
  })
}
