// The administration page for the platform's keys, which see every tenant, and for those of one.
import type { Test } from 'tap'
import { adminHost, fillIn, headingHasFocus, pageTest, press, submit, violations } from '../helpers/admin-page.ts'
import { ALL_SCOPES } from '../helpers/app.ts'

const PLATFORM = [...ALL_SCOPES, 'tenants:read'] as const

async function tenantHost (t: Test) {
  const host = await adminHost(t, { tenants: true })
  const { users } = host
  await users.tenant('acme').apiKeys.create({ name: 'backend' })
  const ada = await users.tenant('acme').create({ name: 'Ada', email: 'ada@example.org' })
  await users.tenant('acme').create({ name: 'Grace', email: 'grace@example.org' })
  await users.tenant('beta').create({ name: 'Hypatia', email: 'ada@example.org' })
  return { ...host, ada }
}

pageTest('a platform key sees all tenants, or the one that it chooses, in every view', async (t) => {
  const { users, origin, ada, enter } = await tenantHost(t)
  const page = await enter('#/users', { scopes: [...PLATFORM] })
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
  t.equal(await page.title(), `Users · acme · ${new URL(origin).host}`)
  await headingHasFocus(page)

  await page.getByRole('link', { name: 'Ada' }).click()
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
  t.equal(await page.evaluate('location.hash'), `#/@acme/users/${ada.id}`)
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByText('There are no older events.').waitFor()
  t.strictSame(await page.locator('td[data-label="Subject"]').allInnerTexts(), ['Grace', 'Ada', 'backend'])
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByRole('link', { name: 'New user' }).click()
  await fillIn(page, { Name: 'Emmy', 'E-mail address': 'emmy@example.org' })
  t.equal(await page.getByLabel('Tenant', { exact: true }).count(), 0)
  await press(page, 'Create the user', 'Emmy was created.')
  t.equal((await users.tenant('acme').list()).meta.total, 3)

  await page.reload()
  await page.getByRole('heading', { name: 'Emmy', level: 1 }).waitFor()
  await menu.click()
  await page.getByRole('link', { name: 'All tenants' }).click()
  await page.getByText('4 users', { exact: true }).waitFor()

  const row = page.getByRole('row').filter({ hasText: 'acme' })
  await row.filter({ hasText: 'Ada' }).waitFor()
  await page.getByRole('link', { name: 'API keys' }).click()
  await row.filter({ hasText: 'backend' }).waitFor()
  await page.getByRole('link', { name: 'Events' }).click()
  await row.filter({ hasText: 'user.created' }).first().waitFor()
  await page.goto(`${origin}/admin/#/users/${ada.id}`)
  await page.getByText('Tenant: acme').waitFor()
})

pageTest('a platform key that chose no tenant says whose a new user is', async (t) => {
  const { users, enter } = await tenantHost(t)
  const page = await enter('#/users/new')
  await submit(page, { Tenant: 'Gamma', Name: 'Emmy', 'E-mail address': 'emmy@example.org' }, 'Create the user')
  await page.getByText('This does not have the right format.').waitFor()
  await submit(page, { Tenant: 'gamma' }, 'Create the user', 'Emmy was created.')
  t.equal((await users.tenant('gamma').list()).meta.total, 1)

  // Without the scope to list tenants one goes to a tenant by its name.
  await page.locator('header summary', { hasText: 'Tenant: ' }).click()
  await page.getByLabel('Find a tenant').fill('beta')
  await page.getByRole('link', { name: 'beta', exact: true }).click()
  await page.getByRole('link', { name: 'Hypatia' }).waitFor()
})

pageTest('a key of a tenant sees that tenant’s name, and no other tenant', async (t) => {
  const { users, enter } = await tenantHost(t)
  const { key } = await users.tenant('acme').apiKeys.create({ name: 'me', scopes: ['users:read'] })
  const page = await enter('#/@beta/users', { key })
  await page.getByText('This key belongs to another tenant.').waitFor()
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByText('2 users', { exact: true }).waitFor()
  t.equal(await page.locator('header .tenant').textContent(), 'Tenant: acme')
  t.equal(await page.locator('header summary', { hasText: 'Tenant: ' }).count(), 0)
})
