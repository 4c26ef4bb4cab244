import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const SERVERS = join(import.meta.dirname, '..', 'servers')
const KEY = 'bench-key-of-more-than-32-characters'

/** Starts a server program and waits until it says where it listens. */
export async function startServer (name, program, { place = '', size }) {
  const child = spawn(process.execPath, [join(SERVERS, program)], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, KEY, PLACE: place, SIZE: String(size), NODE_ENV: 'production' } })
  let text = ''
  while (!text.includes('\n')) {
    const [chunk] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(([code]) => { throw new Error(`${name} ended with ${code}`) })])
    text += String(chunk)
  }
  child.stdout.resume()
  const { address, key } = JSON.parse(text)
  return {
    name,
    address,
    key,
    pid: child.pid,
    async stop () {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
}

async function page ({ address, key }, number) {
  const response = await fetch(`${address}/v1/users?page=${number}&limit=20`, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: await response.json() }
}

/** Throws unless a server refuses a stranger and answers the same pages, with the same total, as it should. */
export async function requireSame (server, size, { idOf }) {
  const stranger = await fetch(`${server.address}/v1/users`)
  if (stranger.status !== 401) throw new Error(`${server.name} lets a stranger in: ${stranger.status}`)
  for (const number of [1, Math.max(1, Math.floor(size / 40)), Math.max(1, Math.floor(size / 20))]) {
    const { status, body } = await page(server, number)
    const expected = JSON.stringify(Array.from({ length: Math.min(20, size) }, (_, i) => idOf((number - 1) * 20 + i)))
    const ids = JSON.stringify(body.data?.map(({ id }) => id))
    if (status !== 200 || ids !== expected || body.meta.total !== size) throw new Error(`${server.name} answers another page ${number}: ${status}, total ${body.meta?.total}`)
  }
}
