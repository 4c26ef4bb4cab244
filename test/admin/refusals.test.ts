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
