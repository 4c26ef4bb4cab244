import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { dialects } from './dialects.mjs'
import { batches } from './people.mjs'

const SERVERS = join(import.meta.dirname, '..', 'servers')
const KEY = 'bench-key-of-more-than-32-characters'

/**
 * Starts a server program, of this checkout or by its absolute path, and waits until it listens. `child` is its
 * process, which may take messages.
 */
export async function startServer (name, program, { place = '', size, execArgv = [], env = {} }) {
  const child = spawn(process.execPath, [...execArgv, resolve(SERVERS, program)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...env, KEY, PLACE: place, SIZE: String(size), NODE_ENV: 'production' }
  })
  const ended = once(child, 'exit').then(([code]) => { throw new Error(`${name} ended with ${code}`) })
  // Later, `stop` ends the process.
  ended.catch(() => {})
  let text = ''
  while (!text.includes('\n')) {
    const [chunk] = await Promise.race([once(child.stdout, 'data'), ended])
    text += String(chunk)
  }
  child.stdout.resume()
  const { address, key, dialect } = JSON.parse(text)
  return {
    name,
    address,
    key,
    dialect: dialects[dialect],
    child,
    pid: child.pid,
    async stop () {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
}

async function read ({ address, key, dialect }, asked) {
  const response = await fetch(address + dialect.list(asked).path, { headers: { authorization: `Bearer ${key}` } })
  const body = await response.json()
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`)
  return dialect.answer(body, response.headers)
}

/** The lists that are compared, each with its people and its total. */
function expectedLists (size) {
  const all = [...batches(size, size)].flat()
  const someone = all[size >> 1]
  const prefix = someone.name_key.slice(0, -1)
  const matching = all.filter(({ name_key: nameKey, email_key: emailKey }) =>
    nameKey.startsWith(prefix) || emailKey.startsWith(prefix))
  const numbers = [1, Math.max(1, Math.floor(size / 40)), Math.max(1, Math.floor(size / 20))]
  return [
    ...numbers.map((page) => ({ asked: { page, limit: 20 }, people: all.slice((page - 1) * 20), total: size })),
    { asked: { email: someone.email }, people: [someone], total: 1 },
    { asked: { q: someone.name.slice(0, -1) }, people: matching, total: matching.length }
  ]
}

/** Throws unless a server refuses a request without a key, and returns the right users and totals for each list. */
export async function requireSameAnswers (server, size) {
  const { name, address, dialect } = server
  const keyless = await fetch(address + dialect.list({ page: 1, limit: 20 }).path)
  if (keyless.status !== 401) throw new Error(`${name} answers a request without a key with ${keyless.status}, not 401`)
  for (const { asked, people, total } of expectedLists(size)) {
    if (dialect.cannot.some((member) => member in asked)) continue
    const expected = JSON.stringify({ ids: people.slice(0, 20).map(({ id }) => id), total })
    const answered = JSON.stringify(await read(server, asked))
    if (answered === expected) continue
    throw new Error(`${name} answers ${JSON.stringify(asked)} with ${answered}, not ${expected}`)
  }
}
