// Filled databases that our server and others share, each in a table of its own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from '../../dist/adapters/postgres.js'
import { sqlite } from '../../dist/adapters/sqlite.js'
import { startPostgres } from '../../test/servers/postgres.mjs'
import { seedPostgres, seedSqlite } from './seed.mjs'

/**
 * A database with `size` users in our table, all of them of `tenant` if given, and in `bench_users`: an SQLite file of
 * this name, or a PostgreSQL.
 */
export async function openPlace (storage, { directory, name, size, tenant }) {
  const isSqlite = storage === 'sqlite'
  const place = isSqlite ? { url: join(directory, `${name}.db`) } : await startPostgres({ durable: true })
  const store = isSqlite ? sqlite({ filename: place.url }) : postgres({ connection: place.url })
  await store.open({ migrate: true })
  await store.close()
  const seed = isSqlite ? seedSqlite : seedPostgres
  await seed(place.url, 'fastify_users_users', size, { create: false, tenant })
  await seed(place.url, 'bench_users', size, { create: true })
  return place
}

/**
 * Does work at each of some storages, in a directory that is removed afterwards. `stops` gets what ends what the work
 * has started there: it is ended in reverse order.
 */
export async function atEach (storages, work) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'))
  try {
    for (const storage of storages) {
      const stops = []
      try {
        await work(storage, { directory, stops })
      } finally {
        for (const stop of stops.reverse()) await stop()
      }
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
