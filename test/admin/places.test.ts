// The administration page in other places: behind a proxy, with sessions of the host's, with its brand.
import { createServer, request as forward } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { admin } from '../../lib/admin-plugin.ts'
import users from '../../lib/index.ts'
import { adminHost, fillIn, openTab, pageTest, press, signIn, violations } from '../helpers/admin-page.ts'
import { ALL_SCOPES } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { until } from '../helpers/until.ts'

/** A proxy before a server, which changes the path of each request; closed with the test. */
async function proxy (t: Test, origin: string, change: (path: string) => string): Promise<string> {
  const server = createServer((request, response) => {
    const { method, headers, url = '/' } = request
    request.pipe(forward(new URL(change(url), origin), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    }))
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address: AddressInfo = Object(server.address())
  return `http://127.0.0.1:${address.port}`
}

pageTest('works behind a proxy that takes a path away and adds another', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { prefix: '/people/v1', storage: memory() })
  await app.register(admin, { prefix: '/people/admin' })
  await app.users.create({ name: 'Ada', email: 'ada@example.org' })
  const { key } = await app.users.apiKeys.create({ name: 'me' })
  const inside = await app.listen({ host: '127.0.0.1', port: 0 })
  const outside = await proxy(t, inside, (url) => url.replace('/all/staff/', '/people/'))
  const page = await openTab(t, `${outside}/all/staff/admin`)
  t.equal(new URL(page.url()).pathname, '/all/staff/admin/')
  await signIn(page, key)
  await page.getByRole('link', { name: 'Ada' }).click()
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
})

/** A host that keeps who is signed in by a cookie, and the page on top of it. */
async function sessionHost (t: Test) {
  const sessions = new Map<string, string>()
  const sessionOf = (cookie = '') => sessions.get(/(?:^|; )sid=([0-9a-f]+)/.exec(cookie)?.[1] ?? '')
  const host = await adminHost(t, {
    authenticate (token, { headers }) {
      const id = token === 'session' ? sessionOf(headers.cookie) : undefined
      return id === undefined ? null : { id, scopes: ALL_SCOPES }
    },
    admin: { session: { signIn: '/login' } },
    before: (app) => app.get('/login', async (_request, reply) => {
      const sid = randomBytes(16).toString('hex')
      sessions.set(sid, 'ada')
      return reply.header('set-cookie', `sid=${sid}; Path=/; HttpOnly; SameSite=Lax`).send('signed in')
    })
  })
  return { ...host, sessions }
}

pageTest('a host’s session signs in, and its end takes nothing that was typed', async (t) => {
  const { users, origin, sessions } = await sessionHost(t)
  const page = await openTab(t, `${origin}/admin/#/users`)
  const link = page.getByRole('link', { name: 'Open the sign-in page' })
  await link.waitFor()
  t.equal(await page.getByLabel('API key').count(), 0)
  t.equal(await page.getByRole('alert').count(), 0)
  const signInThere = async () => {
    const [tab] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await tab.getByText('signed in').waitFor()
    await tab.close()
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  await signInThere()
  await page.getByText('There are no users yet.').waitFor()
  await page.getByRole('link', { name: 'New user' }).click()
  await page.getByRole('heading', { name: 'New user' }).waitFor()
  await fillIn(page, { Name: 'Ada', 'E-mail address': 'ada@example.org' })
  sessions.clear()
  await page.getByRole('button', { name: 'Create the user' }).click()
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  const said = page.locator('form').getByText('Your session has ended. Sign in again.')
  await said.waitFor()
  await signInThere()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await said.waitFor({ state: 'detached' })
  await press(page, 'Create the user', 'Ada was created.')
  const [event] = (await users.events.list({ type: 'user.created' })).data
  t.strictSame(event?.actor, { type: 'host', id: 'ada', name: null })
})

pageTest('the host’s title and logo are where people sign in, at the top and on the tab', async (t) => {
  const shape = '<script>alert(1)</script><path d="M0 0h8v8z"/>'
  const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${shape}</svg>`
  const { users, origin, createKey } = await adminHost(t, { admin: { title: 'Acme & Söhne', logo } })
  const { id } = await users.create({ name: 'Olga Petrova', email: 'olga@example.org' })
  const page = await openTab(t, `${origin}/admin/#/users`)
  const logoIsShown = () => until('the logo is shown', async () =>
    await page.evaluate('document.querySelector(".brand img").naturalWidth > 0') === true)
  t.equal(await page.title(), 'Acme & Söhne')
  t.equal(await page.locator('main .brand').innerText(), 'Acme & Söhne')
  await logoIsShown()
  await signIn(page, await createKey())
  t.equal(await page.locator('header .brand').innerText(), 'Acme & Söhne')
  await logoIsShown()
  t.equal(await page.title(), 'Users · Acme & Söhne')
  await page.goto(`${origin}/admin/#/users/${id}`)
  await until('the tab has the name', async () => await page.title() === 'Olga Petrova · Users · Acme & Söhne')
  t.match(await page.getAttribute('link[rel=icon]', 'href'), /^data:image\/svg\+xml;base64,/)
})

for (const [accent, skip] of [['#ffcc00', false], ['#000', from('nightly')]] as const) {
  pageTest(`the host’s accent can be read: ${accent}`, async (t) => {
    const { users, origin, createKey } = await adminHost(t, { admin: { accent } })
    await users.create({ name: 'Ada Lovelace', email: 'ada@example.org' })
    const page = await openTab(t, `${origin}/admin/#/users`)
    await page.getByLabel('API key').waitFor()
    const check = async (view: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await violations(page), [], `${view}, ${colorScheme}`)
      }
    }
    await check('sign-in')
    await signIn(page, await createKey())
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await check('users')
  }, { skip })
}
