// Imported for its effect, by tests that talk to services in processes of their own: has every answer that is fetched from our routes under /v1 held against openapi.json,
// and ends the process as failed where one is not as described.
import { readFileSync } from 'node:fs'
import { type Description, faultsOf } from './described.ts'

const description: Description = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const templates = Object.keys(description.paths).map((path) => ({ path, fits: new RegExp(`^${path.replace(/\{id\}/, '[^/]+')}$`) })).sort((a, b) => b.path.length - a.path.length)
const faults: string[] = []

async function judge (method: string, url: string, response: Response): Promise<void> {
  const { pathname } = new URL(url)
  const item = templates.find(({ path, fits }) => path === pathname || fits.test(pathname))
  const operation = item === undefined ? undefined : description.paths[item.path]?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (item === undefined || operation === undefined) return
  const body = await response.clone().text()
  // A mount without the routes of API keys has nothing there.
  if (body.includes('"not_found"')) return
  const headers = Object.fromEntries(response.headers)
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  faults.push(...faultsOf(description, operation, { status: response.status, headers, type, body, head: method === 'HEAD' }).map((fault) => `${method} ${item.path}: ${fault}`))
}

const { fetch } = globalThis
globalThis.fetch = async (input, init = {}) => {
  const response = await fetch(input, init)
  await judge(init.method ?? 'GET', String(input), response)
  return response
}

process.on('exit', () => {
  if (faults.length === 0) return
  process.stderr.write(`answers are not as described:\n${faults.join('\n')}\n`)
  process.exitCode = 1
})
