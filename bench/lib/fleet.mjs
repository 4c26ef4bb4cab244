import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { dialects } from './dialects.mjs'
import { batches } from './people.mjs'

const SERVERS = join(import.meta.dirname, '..', 'servers')
const KEY = 'bench-key-of-more-than-32-characters'

/** Starts a server program and waits until it says where it listens; `child` takes messages. */
export async function startServer (name, program, { place = '', size, execArgv = [], env = {} }) {
  const child = spawn(process.execPath, [...execArgv, join(SERVERS, program)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], env: { ...process.env, ...env, KEY, PLACE: place, SIZE: String(size), NODE_ENV: 'production' } })
  let text = ''
  while (!text.includes('\n')) {
    const [chunk] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(([code]) => { throw new Error(`${name} ended with ${code}`) })])
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

/** Throws unless a server refuses a stranger and answers the same lists, with the same totals, as it should. */
export async function requireSame (server, size) {
  const { name, address, dialect } = server
  const stranger = await fetch(address + dialect.list({ page: 1, limit: 20 }).path)
  if (stranger.status !== 401) throw new Error(`${name} lets a stranger in: ${stranger.status}`)
  const all = [...batches(size, size)].flat()
  const someone = all[size >> 1]
  const begins = someone.name_key.slice(0, -1)
  const lists = [
    ...[1, Math.max(1, Math.floor(size / 40)), Math.max(1, Math.floor(size / 20))].map((page) => [{ page, limit: 20 }, all.slice((page - 1) * 20), size]),
    [{ email: someone.email }, [someone]],
    [{ q: someone.name.slice(0, -1) }, all.filter(({ name_key: nameKey, email_key: emailKey }) => nameKey.startsWith(begins) || emailKey.startsWith(begins))]
  ]
  for (const [asked, found, total = found.length] of lists) {
    if (dialect.cannot.some((member) => member in asked)) continue
    const expected = JSON.stringify({ ids: found.slice(0, 20).map(({ id }) => id), total })
    const answered = JSON.stringify(await read(server, asked))
    if (answered !== expected) throw new Error(`${name} answers ${JSON.stringify(asked)} with ${answered}, not ${expected}`)
  }
}
