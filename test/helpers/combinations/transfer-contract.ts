// The contract of batches, imports and exports.
import { until } from '../until.ts'
import type { Site } from './site.ts'

const NDJSON = { 'content-type': 'application/x-ndjson' }
const CSV = { 'content-type': 'text/csv' }
const line = (n: number, name = 'User'): string => `${JSON.stringify({ name, email: `user${n}@example.org` })}\n`
const lines = (from: number, count: number, name?: string): string =>
  Array.from({ length: count }, (_, n) => line(from + n, name)).join('')

async function batches ({ step }: Site): Promise<void> {
  const create = (n: number, name = 'Batch') => ({ op: 'create', body: { name, email: `batch${n}@example.org` } })
  const post = (name: string, status: number, body: object) =>
    step(name, status, 'POST', '/v1/users/batch', { body })
  const { body } = await post('a batch', 200, { operations: [create(1), create(1), { op: 'delete', id: 'usr_x' }] })
  const [{ body: { id } }] = JSON.parse(body).data
  await post('a batch of changes', 200, {
    operations: [{ op: 'update', id, ifMatch: '"1"', body: { name: 'B' } }, { op: 'delete', id, ifMatch: '"2"' }]
  })
  await post('an atomic batch that fails', 409, { atomic: true, operations: [create(2), create(2)] })
  const large = { operations: Array.from({ length: 1000 }, (_, n) => create(n, 'x'.repeat(200))) }
  await post('a batch of a thousand', 200, large)
  await post('a batch that is too large', 413, { operations: [{ op: 'create', body: 'x'.repeat(1_100_000) }] })
}

async function imports ({ step, app }: Site): Promise<void> {
  const post = (name: string, status: number, query: string, body: string, headers = NDJSON) =>
    step(name, status, 'POST', `/v1/users/import?${query}`, { headers, body })
  await post('an import', 200, 'report=all', line(1) + line(1) + '{\n' + line(2))
  const table = 'name,email\nCsv,csv@example.org\n"C,D",csv2@example.org\n'
  await post('an import of a table', 200, 'report=all', table, CSV)
  await post('an empty import', 200, '', '', NDJSON)
  // More than what hosts read of a body, and than buffers hold.
  await post('a large import', 200, '', lines(1000, 4500, 'x'.repeat(200)))
  const refused = lines(9000, 4500, 'x'.repeat(200))
  const { key } = await app.users.apiKeys.create({ name: 'reader', scopes: ['users:read'] })
  for (const [why, status, query, headers, own] of [
    ['by its parameters', 400, '?by=nothing', NDJSON], ['by its type', 415, '', { 'content-type': 'text/plain' }],
    ['by its scope', 403, '', NDJSON, key], ['by its key', 401, '', NDJSON, null]
  ] as const) {
    await step(`a large import refused ${why}`, status, 'POST', `/v1/users/import${query}`, {
      headers, body: refused, ...(own !== undefined && { key: own })
    })
    await step(`the next request after one refused ${why}`, 200, 'GET', '/v1/users?limit=1')
  }
  await post('an import refused by its first line', 400, '', 'nothing,of,it\n1,2,3\n'.repeat(20_000), CSV)
  await step('the next request after one refused by its first line', 200, 'GET', '/v1/users?limit=1')
}

/** Imports whose lines are answered while others are sent, and that their clients break off. */
async function openImports ({ open, note, app, buffersBodies }: Site): Promise<void> {
  const total = async (): Promise<number> => (await app.users.list({ limit: 1 })).meta.total
  const before = await total()
  const sent = open('POST', '/v1/users/import?report=all', NDJSON)
  sent.read()
  sent.send(line(20_001))
  if (!buffersBodies) await until('the first line is answered', () => sent.text().includes('\n'))
  sent.send(line(20_002))
  if (buffersBodies) sent.end()
  await until('the second line is answered', () => sent.text().split('\n').length > 2)
  note('the second line of an open import', sent.text().split('\n')[1] ?? '')
  sent.cancel()
  await until('the client has left', () => sent.ending() !== null)
  note('users of an import that was broken off', await total() - before)
  const early = open('POST', '/v1/users', { 'content-type': 'application/json' })
  early.send('{"name":"Early","email":"early@example.org"')
  early.cancel()
  await until('this client has left', () => early.ending() !== null)
}

async function exports ({ step, open, note }: Site): Promise<void> {
  for (const format of ['ndjson', 'csv']) {
    await step(`an export as ${format}`, 200, 'GET', `/v1/users/export?format=${format}`)
    await step(`HEAD of an export as ${format}`, 200, 'HEAD', `/v1/users/export?format=${format}`)
  }
  await step('an export without a format', 400, 'GET', '/v1/users/export?format=xml')
  const left = open('GET', '/v1/users/export')
  await until('an export has begun', () => left.status() !== null)
  note('an export that is broken off', left.status())
  left.cancel()
}

export async function transferContract (site: Site): Promise<void> {
  await batches(site)
  await imports(site)
  await openImports(site)
  await exports(site)
}
