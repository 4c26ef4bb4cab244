// The example of a server for companies, as employees of two of them and its operator use it.
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { test, type Test } from 'tap'
import { sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

// Its scopes are declared for the whole program: tsconfig.examples.json checks its types.
const { buildApp } = await import(String(new URL('../../examples/companies/app.ts', import.meta.url)))
const OPERATOR = 'operator-key-of-at-least-32-characters'
const PASSWORD = 'correct horse battery'
const ANN = { name: 'Ann', email: 'ann@example.org', password: PASSWORD }

async function start (t: Test) {
  const host = sqliteHost(join(await temporaryDirectory(t), 'host.db'))
  t.teardown(() => host.destroy())
  const sessionSecret = 'session-secret-of-32-characters!'
  const app: FastifyInstance = await buildApp({ host, sessionSecret, operatorKey: OPERATOR })
  t.teardown(() => app.close())
  return { host, app }
}

/** A browser, which keeps its cookie. */
function browser (app: FastifyInstance) {
  let cookie = ''
  return {
    async send (method: 'GET' | 'POST', url: string, payload?: object, headers: InjectOptions['headers'] = {}) {
      const answer = await app.inject({ method, url, headers: { ...headers, cookie }, ...(payload && { payload }) })
      cookie = String(answer.headers['set-cookie'] ?? cookie).split(';')[0] ?? ''
      return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
    },
    get cookie () { return cookie },
    set cookie (value) { cookie = value }
  }
}

const SESSION = { authorization: 'Bearer session' }

test('two companies have the same address, and see nothing of each other; the operator sees both', async (t) => {
  const { app } = await start(t)
  const [acme, beta] = [browser(app), browser(app)]
  t.match(await acme.send('POST', '/sign-up', { company: 'acme', ...ANN }), { status: 201, body: { name: 'Ann' } })
  t.match(await beta.send('POST', '/sign-up', { company: 'beta', ...ANN, name: 'Another Ann' }), { status: 201 })
  const { body: bob } = await acme.send('POST', '/colleagues', { ...ANN, name: 'Bob', email: 'bob@example.org' })

  const namesAt = async (who: ReturnType<typeof browser>, path: string, headers = {}) => {
    const { body } = await who.send('GET', path, undefined, headers)
    return [body.data.map(({ name }: { name: string }) => name), body.meta.total]
  }
  for (const [path, headers] of [['/colleagues', {}], ['/v1/users', SESSION]] as const) {
    t.strictSame(await namesAt(acme, path, headers), [['Ann', 'Bob'], 2])
    t.strictSame(await namesAt(beta, path, headers), [['Another Ann'], 1])
  }
  t.match(await beta.send('GET', `/colleagues/${bob.id}`), { status: 404, body: { code: 'user_not_found' } })
  t.match(await beta.send('GET', `/v1/users/${bob.id}`, undefined, SESSION), { status: 404 })
  t.match(await beta.send('GET', '/v1/users?tenant=acme', undefined, SESSION),
    { status: 403, body: { code: 'tenant_forbidden' } })
  t.match(await acme.send('GET', `/colleagues/${bob.id}`), { status: 200, body: { name: 'Bob' } })
  t.match(await beta.send('POST', '/sign-in', { ...ANN, company: 'beta', email: 'bob@example.org' }), { status: 401 })
  const headers = { authorization: `Bearer ${OPERATOR}` }
  t.strictSame(await namesAt(browser(app), '/v1/users', headers), [['Ann', 'Another Ann', 'Bob'], 3])
  t.strictSame(await namesAt(browser(app), '/v1/users?tenant=beta', headers), [['Another Ann'], 1])
})

test('a sign-up makes the company and its user together, or neither', async (t) => {
  const { app, host } = await start(t)
  t.match(await browser(app).send('POST', '/sign-up', { ...ANN, company: 'acme', email: 'no address' }),
    { status: 400, body: { code: 'validation_failed' } })
  t.strictSame(await host('companies').select(), [])
  t.equal((await browser(app).send('POST', '/sign-up', { ...ANN, company: 'acme' })).status, 201)
  t.strictSame(await browser(app).send('POST', '/sign-up', { ...ANN, company: 'acme', email: 'eve@example.org' }),
    { status: 409, body: { error: 'company_taken' } })
  t.equal((await app.users.tenant('acme').list()).meta.total, 1)
  await app.users.tenant('made-by-the-operator').create({ name: 'Carol', email: 'carol@example.org' })
  t.equal((await browser(app).send('POST', '/sign-up', { ...ANN, company: 'made-by-the-operator' })).status, 409)
})

test('a session is that of its user, and ends with it', async (t) => {
  const { app } = await start(t)
  const [one, two] = [browser(app), browser(app)]
  const { body: ann } = await one.send('POST', '/sign-up', { ...ANN, company: 'acme' })
  t.equal((await two.send('GET', '/account')).status, 401)
  t.equal((await two.send('GET', '/v1/users', undefined, SESSION)).status, 401)
  const wrong = { company: 'acme', email: ANN.email, password: 'wrong horse battery' }
  t.equal((await two.send('POST', '/sign-in', wrong)).status, 401)
  t.equal((await two.send('POST', '/sign-in', { ...wrong, company: 'beta', password: PASSWORD })).status, 401)
  t.equal((await two.send('POST', '/sign-in', { ...wrong, password: PASSWORD })).status, 204)
  t.match(await two.send('GET', '/account'), { status: 200, body: { id: ann.id } })

  // The cookie with another company in it, and the signature of the first.
  const [text = '', signature = ''] = one.cookie.slice('session='.length).split('.')
  const session = { ...JSON.parse(Buffer.from(text, 'base64url').toString()), tenant: 'beta' }
  const forged = browser(app)
  forged.cookie = `session=${Buffer.from(JSON.stringify(session)).toString('base64url')}.${signature}`
  t.equal((await forged.send('GET', '/account')).status, 401)
  t.equal((await one.send('GET', '/v1/users')).status, 401, 'a cookie alone, as another site could send it')

  await app.users.tenant('acme').update(ann.id, { status: 'suspended' })
  t.equal((await one.send('GET', '/account')).status, 401)
  t.strictSame(await two.send('POST', '/sign-in', { ...wrong, password: PASSWORD }),
    { status: 403, body: { error: 'suspended' } })
  await app.users.tenant('acme').update(ann.id, { status: 'active' })
  t.equal((await one.send('GET', '/account')).status, 200)

  await app.users.tenant('acme').delete(ann.id)
  t.equal((await one.send('GET', '/account')).status, 401)
  t.equal((await two.send('GET', '/v1/users', undefined, SESSION)).status, 401)
})

test('programs of a company open its directory with a key, and see its people alone', async (t) => {
  const { app } = await start(t)
  const [acme, beta] = [browser(app), browser(app)]
  const { body: ann } = await acme.send('POST', '/sign-up', { company: 'acme', ...ANN })
  const { body: other } = await beta.send('POST', '/sign-up', { company: 'beta', ...ANN })
  const { body: { key } } = await acme.send('POST', '/keys', { name: 'intranet' })
  const program = { authorization: `Bearer ${key}` }
  const ask = (method: 'GET' | 'PATCH', url: string, payload?: object) =>
    app.inject({ method, url, headers: program, ...payload && { payload } })
  t.match((await ask('GET', '/directory')).json(), { data: [{ id: ann.id }], meta: { total: 1 } })
  t.match((await ask('PATCH', `/directory/${ann.id}`, { name: 'Ann Lee' })).json(), { name: 'Ann Lee' })
  t.equal((await ask('PATCH', `/directory/${other.id}`, { name: 'Eve' })).statusCode, 404)
  t.equal((await app.inject('/directory')).statusCode, 401)
})
