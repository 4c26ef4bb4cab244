// Loads a server by wrk, a program that costs far less than a load generator in JavaScript: on few cores that cost is
// part of every figure.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** More than any server here creates in a second, so that no e-mail address is sent twice. */
const REQUESTS_A_SECOND = 50_000

/** The program of wrk: it sends the requests of a file in turn, and prints what it counted as JSON. */
const PROGRAM = `
local requests = {}
function init(args)
  local file = assert(io.open(args[1], 'rb'))
  for size in function() return file:read('*n') end do
    file:read(1)
    requests[#requests + 1] = file:read(size)
  end
  file:close()
end
local n = 0
function request()
  n = n % #requests + 1
  return requests[n]
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\n{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"errors":%d}\\n', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`

/** A request as it is sent. Its size comes first, on a line of its own. */
function textOf ({ path, method = 'GET', headers = {}, body = '' }, { host, key }) {
  const all = { host, authorization: `Bearer ${key}`, ...headers }
  if (method !== 'GET') all['content-length'] = Buffer.byteLength(body)
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const text = `${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`
  return `${Buffer.byteLength(text)}\n${text}`
}

/**
 * Loads one server with the requests that `next` returns. Returns how many were answered, in how many seconds,
 * latencies in milliseconds, and the number of failures.
 */
export async function loadByWrk ({ address, key }, next, { seconds, connections }) {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-wrk-'))
  const { host } = new URL(address)
  const requests = Array.from({ length: REQUESTS_A_SECOND * seconds }, () => textOf(next(), { host, key }))
  try {
    await writeFile(join(directory, 'requests'), requests.join(''))
    await writeFile(join(directory, 'program.lua'), PROGRAM)
    const { stdout } = await run('wrk', [
      '--threads', '1', '--connections', String(connections), '--duration', `${seconds}s`,
      '--script', join(directory, 'program.lua'), address, '--', join(directory, 'requests')
    ])
    const { requests: answered, micros, p50, p99, errors } = JSON.parse(stdout.trim().split('\n').at(-1))
    return { answered: answered - errors, seconds: micros / 1e6, p50: p50 / 1000, p99: p99 / 1000, errors }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
