import type { Storage } from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'
import { postgres } from 'fastify-users/adapters/postgres'
import { sqlite } from 'fastify-users/adapters/sqlite'

/** The storage that a DATABASE_URL names. */
export function storageFor (url: string): Storage {
  if (url === 'memory:') return memory()
  if (url.startsWith('sqlite:')) return sqlite({ filename: url.slice('sqlite:'.length) })
  return postgres({ connection: url })
}
