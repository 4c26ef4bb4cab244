// The administration page for the platform's keys, which see every tenant, and for those of one.
import { type Test, test } from 'tap'
import { adminHost, openTab, signIn, skip, violations } from '../helpers/admin-page.ts'
import { ALL_SCOPES } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'

const PLATFORM = [...ALL_SCOPES, 'tenants:read'] as const

async function tenantHost (t: Test) {
  const host = await adminHost(t, { tenants: true })
  const { users } = host
  const ada = await users.tenant('acme').create({ name: 'Ada', email: 'ada@example.org' })
  await users.tenant('acme').create({ name: 'Grace', email: 'grace@example.org' })
  await users.tenant('beta').create({ name: 'Hypatia', email: 'ada@example.org' })
  return { ...host, ada }
}

test('a platform key sees all tenants, or the one that it chooses, in every view', { skip }, async (t) => {
  const { users, origin, createKey, ada } = await tenantHost(t)
  const { page, troubles } = await openTab(t, `${origin}/admin/#/users`)
  await signIn(page, await createKey([...PLATFORM]))
  await page.getByText('3 users', { exact: true }).waitFor()
  const menu = page.locator('header summary', { hasText: 'Tenant: ' })
  t.equal(await menu.textContent(), 'Tenant: All tenants')
  await menu.click()
  await page.getByRole('link', { name: 'acme 2 users' }).waitFor()
  t.strictSame(await violations(page), [])
  await page.getByLabel('Find a tenant').fill('a')
  await page.getByRole('link', { name: 'beta' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'acme 2 users' }).click()
  await page.getByText('2 users', { exact: true }).waitFor()
  t.equal(await page.evaluate('location.hash'), '#/@acme/users')
  t.equal(await page.title(), 'Users · acme')
  await until('the heading has the focus', async () => await page.evaluate('document.activeElement.tagName') === 'H1')

  await page.getByRole('link', { name: 'Ada' }).click()
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
  t.equal(await page.evaluate('location.hash'), `#/@acme/users/${ada.id}`)
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByText('These are all events.').waitFor()
  t.strictSame(await page.locator('td[data-label="Subject"]').allInnerTexts(), ['Grace', 'Ada'])
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByRole('link', { name: 'New user' }).click()
  await page.getByLabel('Name').fill('Emmy')
  await page.getByLabel('E-mail address').fill('emmy@example.org')
  t.equal(await page.getByLabel('Tenant', { exact: true }).count(), 0)
  await page.getByRole('button', { name: 'Create the user' }).click()
  await page.getByText('Emmy was created.').waitFor()
  t.equal((await users.tenant('acme').list()).meta.total, 3)

  await page.reload()
  await page.getByRole('heading', { name: 'Emmy', level: 1 }).waitFor()
  await menu.click()
  await page.getByRole('link', { name: 'All tenants' }).click()
  await page.getByText('4 users', { exact: true }).waitFor()
  t.strictSame(troubles, [])
})

test('a platform key that chose no tenant says whose a new user is', { skip }, async (t) => {
  const { users, origin, createKey } = await tenantHost(t)
  const { page, troubles } = await openTab(t, `${origin}/admin/#/users/new`)
  await signIn(page, await createKey())
  await page.getByLabel('Tenant').fill('Gamma')
  await page.getByLabel('Name').fill('Emmy')
  await page.getByLabel('E-mail address').fill('emmy@example.org')
  await page.getByRole('button', { name: 'Create the user' }).click()
  await page.getByText('This does not have the right format.').waitFor()
  await page.getByLabel('Tenant').fill('gamma')
  await page.getByRole('button', { name: 'Create the user' }).click()
  await page.getByText('Emmy was created.').waitFor()
  t.equal((await users.tenant('gamma').list()).meta.total, 1)

  // Without the scope to list tenants one goes to a tenant by its name.
  await page.locator('header summary', { hasText: 'Tenant: ' }).click()
  await page.getByLabel('Find a tenant').fill('beta')
  await page.getByRole('link', { name: 'beta', exact: true }).click()
  await page.getByRole('link', { name: 'Hypatia' }).waitFor()
  t.strictSame(troubles, [])
})

test('a key of a tenant sees that tenant’s name, and no other tenant', { skip }, async (t) => {
  const { users, origin } = await tenantHost(t)
  const { key } = await users.tenant('acme').apiKeys.create({ name: 'me', scopes: ['users:read'] })
  const { page, troubles } = await openTab(t, `${origin}/admin/#/@beta/users`)
  await signIn(page, key)
  await page.getByText('This key belongs to another tenant.').waitFor()
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByText('2 users', { exact: true }).waitFor()
  t.equal(await page.locator('header .tenant').textContent(), 'Tenant: acme')
  t.equal(await page.locator('header summary', { hasText: 'Tenant: ' }).count(), 0)
  t.strictSame(troubles, [])
})

test('a mount without tenants has none', { skip }, async (t) => {
  const { origin, createKey } = await adminHost(t)
  const { page } = await openTab(t, `${origin}/admin/#/@acme/users`)
  await signIn(page, await createKey())
  await page.getByText('There is no such page.').first().waitFor()
  t.equal(await page.getByText('All tenants').count(), 0)
})
