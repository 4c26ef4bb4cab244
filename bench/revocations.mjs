// How long another process still accepts a key after its revocation was answered here, on PostgreSQL:
// node bench/revocations.mjs --tries 100
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { postgres } from '../dist/adapters/postgres.js'
import users from '../dist/lib/index.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { median } from './lib/median.mjs'

const SCHEMA = 'revocations'
const PROGRAM = join(import.meta.dirname, '..', 'test', 'helpers', 'serve.mjs')

const { values: given } = parseArgs({ options: { tries: { type: 'string', default: '100' } } })

const server = await startPostgres({ durable: true })
const storage = postgres({ connection: server.url, schema: SCHEMA, listen: false })
const app = Fastify()
await app.register(users, { storage, migrate: true })

/** Revokes a new key, and returns for how many milliseconds the other process accepted it after that. */
async function acceptedFor (url) {
  const { id, key } = await app.users.apiKeys.create({ name: 'x' })
  const status = async () => (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status
  if (await status() !== 200) throw new Error('a valid key was refused')
  await app.users.apiKeys.revoke(id)
  const from = performance.now()
  let last = from
  for (let sent = performance.now(); await status() === 200; sent = performance.now()) last = sent
  return last - from
}

async function measure (name, keyCache, listen, tries) {
  const args = [PROGRAM, server.url, SCHEMA, keyCache, ...(listen ? ['listen'] : [])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  const url = `${String(line).trim()}/v1/users?limit=1`
  const times = []
  for (let i = 0; i < tries; i++) times.push(await acceptedFor(url))
  console.log(`${name}: a revoked key was accepted for ${median(times).toFixed(1)} ms after the response ` +
    `(median of ${tries}), ${Math.max(...times).toFixed(1)} ms at most`)
  child.kill('SIGTERM')
  await once(child, 'exit')
}

await measure('keyCache 3600, listening', '3600', true, Number(given.tries))
await measure('keyCache 1, not listening', '1', false, Math.ceil(Number(given.tries) / 5))
await measure('keyCache 0', '0', false, Number(given.tries))
await app.close()
await server.stop()
process.exit(0)
