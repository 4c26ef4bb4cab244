// What the administration page says when the API refuses something, or something else answers in its place.
import { test } from 'tap'
import { adminHost, openTab, signIn, skip } from '../helpers/admin-page.ts'

test('a filter or search that is wrong is marked, until it is right', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org', seats: 5 })
  const { page, troubles } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  const found = page.getByText('1 user', { exact: true })
  await found.waitFor()
  const alert = page.getByRole('alert')
  const seats = page.getByRole('search').getByLabel('Seats')
  await seats.fill('abc')
  await alert.waitFor()
  t.equal(await alert.innerText(), 'Something is wrong: see what is marked.')
  t.equal(await seats.getAttribute('aria-invalid'), 'true')
  const faultId = String(await seats.getAttribute('aria-describedby'))
  t.equal(await page.locator(`[id="${faultId}"]`).innerText(), 'This must be a number.')
  t.equal(await page.getByRole('button', { name: 'Export' }).isDisabled(), true, 'which users is not known')
  await seats.fill('5')
  await alert.waitFor({ state: 'detached' })
  t.equal(await seats.getAttribute('aria-invalid'), null)
  await found.waitFor()

  const search = page.getByLabel('Search by name')
  await search.fill('x'.repeat(300))
  await page.getByText('This is too long.').waitFor()
  t.equal(await search.getAttribute('aria-invalid'), 'true')
  t.strictSame(troubles, [])
})

test('says what the status says where the host answers errors in its own format', { skip }, async (t) => {
  for (const errorFormat of ['fastify', ({ detail }: { detail: string }) => ({ error: detail })] as const) {
    const { users, origin, createKey } = await adminHost(t, { errorFormat })
    const { page } = await openTab(t, `${origin}/admin/#/users/new`)
    const alert = page.getByRole('alert')
    await page.getByLabel('API key').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await alert.waitFor()
    t.equal(await alert.innerText(), 'This key is not accepted: it is mistyped, unknown, expired or revoked.')
    await signIn(page, await createKey())
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('E-mail address').fill('nobody')
    await page.getByRole('button', { name: 'Create the user' }).click()
    await alert.waitFor()
    t.equal(await alert.innerText(), 'Something is wrong, and the server does not say where.')
    t.equal((await users.list()).meta.total, 0)
  }
})

test('a page that answers in the place of the API gets a sentence', { skip }, async (t) => {
  const { origin, createKey } = await adminHost(t)
  const { page, troubles } = await openTab(t, `${origin}/admin/#/users/new`)
  await signIn(page, await createKey())
  await page.route(/\/v1\/users\?/, (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<html>login</html>' }))
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByRole('alert').waitFor()
  t.equal(await page.getByRole('alert').innerText(),
    'Something else than the API has answered, such as a proxy that wants you to sign in. ' +
      'Sign in there, in another tab, and try again.')
  await page.unroute(/\/v1\/users\?/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('There are no users yet.').waitFor()
  t.strictSame(troubles, [])
})

test('the list of events can be asked for again when it could not be read', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const { page } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  await page.route(/\/v1\/events/, (route) => route.abort())
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  const retry = page.getByRole('button', { name: 'Try again' })
  await retry.waitFor()
  t.equal(await page.getByRole('alert').count(), 1)
  await page.unroute(/\/v1\/events/)
  await retry.click()
  await page.locator('td[data-label="Of"]').getByText('Ada').waitFor()
  t.equal(await page.getByRole('alert').count(), 0)
  t.equal(await retry.count(), 0)
})
