// The administration page while an answer is on its way: what the person does meanwhile counts.
import { act, adminHost, fillIn, hold, openTab, pageTest, signIn } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

pageTest('events of another type do not come into a list that was filtered meanwhile', async (t) => {
  const { users, enter } = await adminHost(t, { pageSize: { default: 2, max: 2 } })
  for (const name of ['Ada', 'Bob', 'Cyd']) await users.create({ name, email: `${name}@example.org` })
  const page = await enter('#/events')
  const subjects = async () =>
    (await page.locator('td[data-label="Subject"]').allInnerTexts()).map((text) => text.trim())
  const more = page.getByRole('button', { name: 'Show older events' })
  await until('the first events are shown', async () => (await subjects()).length === 2)
  const { sent } = await hold(page, 'GET', /before=/)
  const aborted = page.waitForEvent('requestfailed', (request) => request.url().includes('before='))
  await more.click()
  await until('more is asked for', () => sent.length === 1)
  await page.getByLabel('Type').selectOption('user.created')
  await aborted
  await page.unroute(/before=/)
  await until('the list begins again', async () => (await subjects()).join() === 'Cyd,Bob')
  await more.dblclick()
  await page.getByText('There are no older events.').waitFor()
  t.strictSame(await subjects(), ['Cyd', 'Bob', 'Ada'])
})

pageTest('a late response does not navigate away from the page that the person has opened since', async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  const page = await openTab(t, `${origin}/admin/#/users/new`)
  page.on('dialog', (dialog) => dialog.accept())
  await signIn(page, await createKey())
  const place = async () => await page.evaluate('location.hash')
  await fillIn(page, { Name: 'Ada', 'E-mail address': 'ada@example.org' })
  const creation = await hold(page, 'POST', /\/v1\/users$/)
  await page.getByRole('button', { name: 'Create the user' }).click()
  await until('the user is sent', () => creation.sent.length === 1)
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('table', { name: 'List of API keys' }).waitFor()
  creation.release()
  await page.getByText('Ada was created.').waitFor()
  t.equal(await place(), '#/api-keys')

  const [ada] = (await users.list()).data
  await page.evaluate(`location.hash = '#/users/${ada?.id}'`)
  await act(page, 'Delete this user')
  await page.getByLabel('Type the name').fill('Ada')
  const deletion = await hold(page, 'DELETE', /\/v1\/users\/usr_/)
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await until('the deletion is sent', () => deletion.sent.length === 1)
  await page.goBack()
  await page.getByRole('table', { name: 'List of API keys' }).waitFor()
  deletion.release()
  await page.getByText('Ada was deleted.').waitFor()
  t.equal(await place(), '#/api-keys')
})
