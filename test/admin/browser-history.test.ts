// The browser's buttons Back and Forward on the administration page.
import { test } from 'tap'
import { adminHost, edit, FIELDS, openFilters, openTab, signIn, skip } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

test('staying at a form that is not saved changes no step of the history', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  const { id } = await users.create({ name: 'Ada', email: 'ada@example.org' })
  const { page, troubles } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  const place = async () => await page.evaluate('location.hash')
  const arrives = (hash: string) => until(`the page is at ${hash}`, async () => await place() === hash)
  let questions = 0
  page.on('dialog', async (dialog) => {
    await dialog.dismiss()
    questions++
  })
  const back = async () => { await page.evaluate('history.back()') }
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('table', { name: 'List of API keys' }).waitFor()
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  await page.getByRole('button', { name: 'Sort by Created' }).click()
  await page.getByRole('link', { name: 'Ada' }).click()
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
  await edit(page)
  const steps = await page.evaluate('history.length')

  const name = page.getByLabel('Name')
  await name.fill('Ada King')
  await back()
  await until('the page asks', () => questions === 1)
  await arrives(`#/users/${id}`)
  t.equal(await name.inputValue(), 'Ada King')
  // Two steps, too: the button Back has a menu.
  await page.evaluate('history.go(-3)')
  await until('the page asks again', () => questions === 2)
  await arrives(`#/users/${id}`)
  await page.getByRole('link', { name: 'Events' }).click()
  await until('the page asks for the third time', () => questions === 3)
  await arrives(`#/users/${id}`)
  t.equal(await name.inputValue(), 'Ada King')

  await page.getByRole('button', { name: 'Discard' }).click()
  await back()
  await arrives('#/users?sort=createdAt')
  await back()
  await arrives('#/users')
  await back()
  await arrives('#/api-keys')
  await page.evaluate('history.go(3)')
  await arrives(`#/users/${id}`)
  t.equal(await page.evaluate('history.length'), Number(steps) + 1, 'the step of the link that was not followed')
  await edit(page)
  await name.fill('Ada Byron')
  // The steps are known after a reload, too.
  await page.evaluate(`sessionStorage.setItem('fastify-users:/admin/', '${await createKey()}')`)
  page.removeAllListeners('dialog')
  page.once('dialog', (dialog) => dialog.accept())
  await page.reload()
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
  await edit(page)
  page.on('dialog', async (dialog) => {
    await dialog.dismiss()
    questions++
  })
  await name.fill('Ada Byron')
  await back()
  await until('the page asks for the fourth time', () => questions === 4)
  await arrives(`#/users/${id}`)
  await page.getByRole('button', { name: 'Discard' }).click()
  await back()
  await arrives('#/users?sort=createdAt')
  t.strictSame(troubles, [])
})

test('typing into a filter makes no step of the history, choosing one does', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t, {
    fields: { schema: FIELDS, filterable: ['plan', 'seats', 'born'] }
  })
  await users.create({ name: 'Ada', email: 'ada@example.org', seats: 12, born: '1815-12-10' })
  const { page, troubles } = await openTab(t, `${origin}/admin/#/users`)
  await signIn(page, await createKey())
  await page.getByText('1 user', { exact: true }).waitFor()
  await openFilters(page)
  const arrives = (hash: string) => until(`the page is at ${hash}`, async () =>
    await page.evaluate('location.hash') === hash)
  const steps = Number(await page.evaluate('history.length'))
  const seats = page.getByRole('search').getByLabel('Seats')
  await seats.pressSequentially('1')
  await arrives('#/users?seats=1')
  await seats.pressSequentially('2')
  await arrives('#/users?seats=12')
  await page.getByRole('search').getByLabel('Born').focus()
  await page.keyboard.type('12101815')
  await arrives('#/users?seats=12&born=1815-12-10')
  await page.getByText('1 user', { exact: true }).waitFor()
  t.equal(await page.evaluate('history.length'), steps)
  await page.getByRole('search').getByLabel('Plan').selectOption('pro')
  await page.getByText('No user matches.').waitFor()
  t.equal(await page.evaluate('history.length'), steps + 1)
  await page.evaluate('history.back()')
  await arrives('#/users?seats=12&born=1815-12-10')
  t.strictSame(troubles, [])
})
