// Imported for its effect by tests that call services in other processes. It compares every response that is fetched
// from our routes under /v1 with openapi.json. A difference makes the process fail.
import { readFileSync } from 'node:fs'
import { type Description, failFor, faultsOf } from './described.ts'

const description: Description = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const templates = Object.keys(description.paths)
  .map((path) => ({ path, fits: new RegExp(`^${path.replace(/\{id\}/, '[^/]+')}$`) }))
  .sort((a, b) => b.path.length - a.path.length)
const faults: string[] = []

async function compare (method: string, url: string, response: Response): Promise<void> {
  const { pathname } = new URL(url)
  const item = templates.find(({ path, fits }) => path === pathname || fits.test(pathname))
  const operation =
    item === undefined
      ? undefined
      : description.paths[item.path]?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (item === undefined || operation === undefined) return
  const body = await response.clone().text()
  // Without the API key routes, their paths are unknown to the host.
  if (body.includes('"not_found"')) return
  const headers = Object.fromEntries(response.headers)
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  const answer = { status: response.status, headers, type, body, head: method === 'HEAD' }
  faults.push(...faultsOf(description, operation, answer).map((fault) => `${method} ${item.path}: ${fault}`))
}

const { fetch } = globalThis
globalThis.fetch = async (input, init = {}) => {
  const response = await fetch(input, init)
  await compare(init.method ?? 'GET', String(input), response)
  return response
}

failFor(() => faults)
