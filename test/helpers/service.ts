// The standalone service as its operator meets it: a process with an environment, two streams and signals.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Test } from 'tap'
import { type Description, faultsOf } from './described.ts'
import { plainNode } from './plain-node.ts'
import { until } from './until.ts'

const SERVER = join(import.meta.dirname, '..', '..', '.build', 'examples', 'standalone', 'server.js')
const DEADLINE_MS = 30_000

/** The text of an API key. */
export const KEY = /uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}/

export interface Service {
  process: ChildProcessByStdio<null, Readable, Readable>
  stdout: () => string
  stderr: () => string
  /** Waits until the service has printed a text: its first group, or all of it. */
  printed: (pattern: RegExp) => Promise<string>
  /** Waits until the service has ended: its exit code. */
  exitCode: () => Promise<number | null>
  /** Ends it with SIGTERM: its exit code. */
  stop: () => Promise<number | null>
}

/** Starts the service in a directory. It is killed with the test. `redirection`: of its output, as in a shell. */
export function startService (
  t: Test, cwd: string, env: Record<string, string> = {}, redirection = ''
): Service {
  const [node, args] = plainNode(SERVER)
  const child = spawn('sh', ['-c', `exec "$@" ${redirection}`, 'sh', node, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], PORT: '0', ...env }
  })
  t.teardown(() => child.kill('SIGKILL'))
  let [stdout, stderr, isClosed] = ['', '', false]
  child.stdout.on('data', (chunk) => { stdout += String(chunk) })
  child.stderr.on('data', (chunk) => { stderr += String(chunk) })
  child.on('close', () => { isClosed = true })

  async function printed (pattern: RegExp): Promise<string> {
    const find = () => pattern.exec(stdout + stderr)
    await until(`printing ${pattern.source}`, () => find() !== null || isClosed, DEADLINE_MS)
    const match = find()
    if (match === null) throw new Error(`the service ended: ${stderr}`)
    return match[1] ?? match[0]
  }

  async function exitCode (): Promise<number | null> {
    await until('the end of the service', () => isClosed, DEADLINE_MS)
    return child.exitCode
  }

  async function stop (): Promise<number | null> {
    child.kill('SIGTERM')
    return exitCode()
  }

  return { process: child, stdout: () => stdout, stderr: () => stderr, printed, exitCode, stop }
}

/** A port that nobody listens on. */
export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}

const description: Description = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

/** The status and the JSON body of a GET request. An answer of a path of openapi.json must be as it says. */
export async function get (url: string, key?: string): Promise<{ status: number, body: unknown }> {
  const response = await fetch(url, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } })
  const { status } = response
  const text = await response.text()
  const operation = description.paths[new URL(url).pathname]?.['get']
  if (operation !== undefined) {
    const headers = Object.fromEntries(response.headers)
    const [type = ''] = (headers['content-type'] ?? '').split(';')
    const faults = faultsOf(description, operation, { status, headers, type, body: text, head: false })
    if (faults.length > 0) throw new Error(`the answer of ${url} is not as described:\n${faults.join('\n')}`)
  }
  return { status, body: JSON.parse(text) }
}
