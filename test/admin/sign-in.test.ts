// Signing in on the administration page, and what the page does with the key.
import {
  adminHost, type AdminHost, edit, fillIn, headingHasFocus, openTab, pageTest, press, signIn, submit
} from '../helpers/admin-page.ts'
import { mistyped } from '../helpers/app.ts'

// Everything that the browser keeps for the page.
const KEPT = 'JSON.stringify([location.href, { ...localStorage }, document.cookie, history.state])'

/** Ends a key as its holder does, elsewhere. */
async function end ({ app }: AdminHost, key: string): Promise<void> {
  await app.inject({ method: 'DELETE', url: '/v1/api-keys/current', headers: { authorization: `Bearer ${key}` } })
}

pageTest('says where one is, refuses what is no key, and sends a key as Bearer token alone', async (t) => {
  const { origin, createKey } = await adminHost(t)
  const key = await createKey()
  const page = await openTab(t, `${origin}/admin`)
  const sent: Array<{ url: string, authorization: string | undefined, cookie: string | undefined }> = []
  page.on('request', (request) => {
    const { authorization, cookie } = request.headers()
    if (request.url().includes('/v1/')) sent.push({ url: request.url(), authorization, cookie })
  })
  t.match(page.url(), /\/admin\/$/)

  await page.getByText(`The users of \u2068${new URL(origin).host}/v1\u2069`).waitFor()
  const command = page.getByText('npx fastify-users keys create')
  t.equal(await command.isVisible(), false)
  await page.getByText('Where do I get a key?').click()
  t.equal(await command.isVisible(), true)

  for (const text of ['Ключ', 'uk_\u200b123', mistyped(key)]) {
    await page.reload()
    await submit(page, { 'API key': text }, 'Sign in')
    t.equal(await page.getByRole('alert').innerText(),
      'This key is not accepted: it is mistyped, unknown, expired or revoked.')
    t.equal(await page.getByLabel('API key').inputValue(), text, 'what was typed is still there')
  }

  const refused = sent.length
  await signIn(page, key)
  await headingHasFocus(page)
  t.equal(await page.title(), `Users · ${new URL(origin).host}`)
  await page.getByText('There are no users yet.').waitFor()
  t.ok(sent.length > refused && sent.slice(refused).every(({ authorization }) => authorization === `Bearer ${key}`))
  t.ok(sent.every(({ url, cookie }) => !url.includes(key) && cookie === undefined))
  t.notMatch(String(await page.evaluate(KEPT)), key)
  t.equal(await page.evaluate('sessionStorage.length'), 0)
})

pageTest('a reload keeps the session of its tab, and nothing else does', async (t) => {
  const { users, origin, createKey, enter } = await adminHost(t)
  const { id } = await users.create({ name: 'Ada', email: 'ada@example.org' })
  const page = await enter(`#/users/${id}`)
  for (let reloads = 0; reloads < 2; reloads++) {
    await page.reload()
    await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
    t.equal(await page.evaluate('sessionStorage.length'), 0, 'the key is in memory again')
  }
  t.notMatch(String(await page.evaluate(KEPT)), 'uk_')
  const another = await page.context().newPage()
  await another.goto(`${origin}/admin/`)
  await another.getByLabel('API key').waitFor()

  await page.goto(`${origin}/v1/users`)
  await page.goto(`${origin}/admin/`)
  await page.getByLabel('API key').waitFor()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
  await page.reload()
  await page.getByLabel('API key').waitFor()

  await signIn(page, await createKey())
  await page.getByText('me', { exact: true }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  await page.reload()
  await page.getByLabel('API key').waitFor()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
})

pageTest('a key is kept in the tab if the person says so, until it has ended, which a sentence says', async (t) => {
  const host = await adminHost(t)
  const { origin, createKey } = host
  await createKey(undefined, 'another')
  const key = await createKey()
  const page = await openTab(t, `${origin}/admin/`)
  await page.getByLabel('Stay signed in').check()
  await signIn(page, key)
  t.match(String(await page.evaluate('JSON.stringify({ ...sessionStorage })')), key)
  t.notMatch(String(await page.evaluate(KEPT)), key)
  await page.reload()
  await page.getByText('There are no users yet.').waitFor()
  await page.getByText('me', { exact: true }).click()
  t.match(await page.locator('header .menu').innerText(), /Scopes: users:read, users:write/)

  await end(host, key)
  await page.reload()
  t.match(await page.getByRole('alert').innerText(), /This key is not accepted/)
  t.equal(await page.evaluate('sessionStorage.length'), 0)
})

pageTest('what a key lacks scopes for is not offered, and the page says why', async (t) => {
  const { users, origin, enter } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org', plan: 'pro' })
  const page = await enter('#/', { scopes: ['users:read'] })
  await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Ada' }).waitFor()
  t.equal(await page.getByRole('link', { name: 'Overview' }).count(), 0)
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('option').first().waitFor()
  t.strictSame((await page.getByRole('dialog').getByRole('option').allInnerTexts()).map((text) => text.split('\n')[0]),
    ['Users', 'Export users: CSV, for spreadsheets', 'Export users: NDJSON, a user on each line', 'Sign out'])
  await page.keyboard.press('Escape')
  t.equal(await page.getByRole('link', { name: 'New user' }).count(), 0)
  t.equal(await page.getByRole('checkbox', { name: 'Select' }).count(), 0)
  const missing = (scope: string) =>
    page.getByText(`Some of this is hidden, because your key lacks the scope ${scope}.`)
  t.equal(await missing('users:write').count(), 1)
  t.equal(await missing('users:delete').count(), 1)

  await page.getByRole('link', { name: 'Ada' }).click()
  await missing('events:read').waitFor()
  t.equal(await page.getByRole('button', { name: /Save|Delete/ }).count(), 0)
  t.match(await page.locator('dl').first().innerText(), /ada@example.org[\s\S]*pro/)
  t.strictSame(await page.getByRole('navigation').first().getByRole('link').allInnerTexts(), ['Users'])
  // Somebody who types the address gets no further.
  for (const [section, scope] of [
    ['api-keys', 'keys:read'], ['events', 'events:read'], ['webhooks', 'webhooks:read']
  ] as const) {
    await page.goto(`${origin}/admin/#/${section}`)
    await missing(scope).waitFor()
  }
  await page.goto(`${origin}/admin/#/users/new`)
  await missing('users:write').waitFor()
  t.equal(await page.getByLabel(/^Name/).count(), 0)
})

pageTest('offers only what the API has', async (t) => {
  const { enter } = await adminHost(t, { apiKeys: { routes: false }, eventLog: false, webhooks: false })
  const page = await enter('', { scopes: ['users:read'] })
  t.strictSame(await page.getByRole('navigation', { name: 'Sections' }).getByRole('link').allInnerTexts(), ['Users'])
})

pageTest('a key that ends takes nothing that was typed, whatever the next one can do', async (t) => {
  const host = await adminHost(t, { apiKeys: { cache: 0 } })
  const { users, createKey, enter } = host
  const [key, next] = [await createKey(), await createKey(undefined, 'next')]
  await createKey(undefined, 'another')
  const page = await enter('#/users/new', { key })
  await fillIn(page, { Name: 'Ada', 'E-mail address': 'ada@example.org' })
  const send = (name: string) => page.getByRole('button', { name }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  const again = async (text: string): Promise<void> => {
    await submit(dialog, { 'API key': text }, 'Sign in')
    await dialog.waitFor({ state: 'detached' })
  }
  await end(host, key)
  await send('Create the user')
  await dialog.waitFor()
  t.match(await dialog.innerText(), /Nothing you typed is lost/)
  await again(next)
  t.equal(await page.getByLabel(/^Name/).inputValue(), 'Ada')
  await page.getByText('This key is not accepted').waitFor({ state: 'detached' })
  await send('Create the user')
  await page.getByText('Ada was created.').waitFor()
  t.equal((await users.list()).meta.total, 1)

  await edit(page)
  await page.getByRole('textbox', { name: 'Name' }).fill('Ada King')
  await end(host, next)
  await send('Save')
  await again(await createKey(['users:read']))
  await page.getByText('Some of this is hidden, because your key lacks the scope users:write.').first().waitFor()
  t.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Ada King')
  await send('Save')
  await page.getByText('You are not allowed to do this.').waitFor()
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Ada'])
})

pageTest('a server that can’t be reached gets a sentence, and the same button works later', async (t) => {
  const { origin, createKey } = await adminHost(t)
  const key = await createKey()
  const page = await openTab(t, `${origin}/admin/#/users`)
  await page.route('**/v1/**', (route) => route.abort())
  await submit(page, { 'API key': key }, 'Sign in')
  t.match(await page.getByRole('alert').innerText(), /The server could not be reached/)
  await page.unroute('**/v1/**')
  await press(page, 'Sign in', 'There are no users yet.')
}, { makesTroubles: true })
