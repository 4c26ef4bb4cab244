import type { Storage } from 'fastify-users'
import { mariadb } from 'fastify-users/adapters/mariadb'
import { memory } from 'fastify-users/adapters/memory'
import { postgres } from 'fastify-users/adapters/postgres'
import { sqlite } from 'fastify-users/adapters/sqlite'
import { type Config, replicasOf } from './config.ts'

const DRIVERS = ['better-sqlite3', 'node:sqlite', '@photostructure/sqlite', 'sqlite3'] as const

const isDriver = (name: string): name is typeof DRIVERS[number] => DRIVERS.some((each) => each === name)

/** The storage that the configuration names. */
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
    return sqlite({ filename, create, ...(isDriver(driver) && { driver }) })
  }
  if (url.startsWith('lmdb:')) {
    // The example of an adapter of one's own: only who asks for it needs its package.
    const { lmdb } = await import('../custom-adapter/index.ts')
    return lmdb(url.slice('lmdb:'.length))
  }
  if (url.startsWith('mariadb:')) return mariadb({ connection: url, ...(max > 0 && { pool: { max } }) })
  return postgres({
    connection: url,
    replicas: replicasOf(replicas),
    pooler,
    ...(max > 0 && { pool: { max } })
  })
}
