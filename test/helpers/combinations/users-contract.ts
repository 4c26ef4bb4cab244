// The contract of users, keys and errors in few requests.
import type { Headers } from './client.ts'
import type { Site } from './site.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }
const ann = { name: 'Ann', email: 'Ann@Example.org' }

async function creation ({ step }: Site): Promise<string> {
  await step('an empty list', 200, 'GET', '/v1/users')
  const { body } = await step('creation', 201, 'POST', '/v1/users', { body: ann })
  await step('creation with an address in use', 409, 'POST', '/v1/users', { body: ann })
  // Letters outside ASCII take more bytes than they are characters.
  await step('creation of the longest name', 201, 'POST', '/v1/users', {
    body: { name: '字'.repeat(200), email: 'long@example.org' }
  })
  return JSON.parse(body).id
}

async function reading ({ step }: Site, id: string): Promise<void> {
  const path = `/v1/users/${id}`
  const current = { headers: { 'if-none-match': '"1"' } }
  for (const method of ['GET', 'HEAD']) {
    await step(`${method} a user`, 200, method, path)
    await step(`${method} a user that is known`, 304, method, path, current)
    await step(`${method} an unknown user`, 404, method, '/v1/users/usr_01h455vb4pex5vsknk084sn02q')
    await step(`${method} the list`, 200, method, '/v1/users?limit=1&page=2')
  }
  await step('the list by key', 200, 'GET', `/v1/users?limit=1&after=${id}&sort=createdAt`)
  for (const q of ['an%25%26', 'an%C3%A9', 'a%2Bb', 'an+n']) {
    await step(`a search for ${q}`, 200, 'GET', `/v1/users?q=${q}`)
  }
  await step('a parameter twice', 400, 'GET', '/v1/users?limit=1&limit=2')
  await step('an unknown parameter', 400, 'GET', '/v1/users?x[y]=1&page=1e0')
}

async function changing ({ step }: Site, id: string): Promise<void> {
  const path = `/v1/users/${id}`
  const over = (version: number) => ({ 'if-match': `"${version}"` })
  const body = '{"name":"Anna"}'
  await step('a merge patch', 200, 'PATCH', path, { headers: { ...MERGE_PATCH, ...over(1) }, body })
  await step('a patch over an older version', 412, 'PATCH', path, { headers: { ...JSON_TYPE, ...over(1) }, body })
  await step('a replacement', 200, 'PUT', path, { headers: over(2), body: { ...ann, name: 'Ann the Second' } })
  const text = { headers: { 'content-type': 'text/plain' }, body: 'x' }
  await step('a deletion with a body of another type', 415, 'DELETE', path, text)
  await step('a deletion', 204, 'DELETE', path, { headers: JSON_TYPE })
}

async function errors ({ step, app }: Site): Promise<void> {
  const { key } = await app.users.apiKeys.create({ name: 'reader', scopes: ['users:read'] })
  const post = (name: string, status: number, body: string | Buffer, headers: Headers = JSON_TYPE) =>
    step(name, status, 'POST', '/v1/users', { headers, body })
  await post('malformed JSON', 400, '{')
  await post('bytes that are not UTF-8', 400, Buffer.from('{"name":"\xff"}', 'latin1'))
  await post('a poisoned prototype', 400, '{"name":"C","email":"c@c.de","__proto__":{}}')
  await post('wrong members', 400, '{"name":5,"email":["a@b.co"],"role":"admin"}')
  await post('a body that is too large', 413, ' '.repeat(17_000))
  await post('a large body of another type', 415, '<x/>'.repeat(50_000), { 'content-type': 'application/xml' })
  await post('a body without a type', 415, '{}', {})
  await post('a content coding', 415, '{}', Object.assign({ 'content-encoding': 'gzip' }, JSON_TYPE))
  await step('creation without a body', 400, 'POST', '/v1/users')
  const body = { name: 'x'.repeat(15_000) }
  await step('no key', 401, 'POST', '/v1/users', { key: null, body })
  await step('another key', 401, 'POST', '/v1/users', { key: 'uk_nobody', body })
  await step('a key without the scope', 403, 'POST', '/v1/users', { key, body })
  await step('a method that there is not', 405, 'PUT', '/v1/users', { body })
  await step('OPTIONS', 405, 'OPTIONS', '/v1/users')
  await step('an unknown path', 404, 'POST', '/v1/nothing', { body })
}

async function keys ({ step }: Site): Promise<void> {
  const body = { name: 'b', scopes: ['users:read'] }
  const made = await step('creation of a key', 201, 'POST', '/v1/api-keys', { body })
  const { id } = JSON.parse(made.body)
  await step('rotation', 201, 'POST', `/v1/api-keys/${id}/rotate`, { body: { overlap: 60 } })
  await step('revocation', 204, 'DELETE', `/v1/api-keys/${id}`)
  await step('the list of keys', 200, 'GET', '/v1/api-keys?limit=100')
}

export async function usersContract (site: Site): Promise<void> {
  const id = await creation(site)
  await reading(site, id)
  await changing(site, id)
  await errors(site)
  await keys(site)
}
