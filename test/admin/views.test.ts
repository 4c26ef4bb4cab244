// What a person does with the list of users beside finding: views that are kept, files of a few, and ways back.
import { actOnRow, adminHost, chooseFilter, downloaded, openFilters, pageTest, press } from '../helpers/admin-page.ts'

const DAY_MS = 86_400_000

pageTest('keeps a view in the browser, whose days count from today', async (t) => {
  const { users, enter } = await adminHost(t)
  const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString()
  await users.import([['Ada', 3], ['Bob', 20], ['Cyd', 200]].map(([name, days]) =>
    ({ name: String(name), email: `${name}@example.org`, createdAt: daysAgo(Number(days)) })))
  const page = await enter()
  await openFilters(page)
  await chooseFilter(page, 'Created', 'last 30 days')
  await page.getByText('2 users', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Remove the filter Created from: last 30 days' }).waitFor()
  t.equal(await page.evaluate('location.hash'), '#/users?createdAt%5Bgte%5D=P30D')

  const views = page.locator('.toolbar summary', { hasText: 'Views' })
  await views.click()
  await page.getByLabel('Save this list as').fill('New ones')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.goto(page.url().replace(/#.*/, '#/users'))
  await page.getByText('3 users', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('3 users', { exact: true }).waitFor()
  await views.click()
  await page.getByRole('button', { name: 'New ones', exact: true }).click()
  await page.getByText('2 users', { exact: true }).waitFor()
  await page.locator('.toolbar summary', { hasText: 'New ones' }).click()
  await page.getByRole('button', { name: 'Remove the view New ones' }).click()
  await views.waitFor()
  t.equal(await page.evaluate('Object.values(localStorage).join()'), '[]')
})

pageTest('saves the selected users as one file, however many requests that takes', async (t) => {
  const { users, enter } = await adminHost(t)
  await users.import(Array.from({ length: 150 }, (_, i) => ({ name: `User ${i}`, email: `user${i}@example.org` })))
  const page = await enter('#/users?sort=createdAt')
  await page.getByLabel('Select all users on this page').check()
  await press(page, 'Select all 150 matching users', '150 users selected')
  await page.getByLabel('Select User 1', { exact: true }).uncheck()
  const bar = page.getByRole('group', { name: 'Actions for the selected users' })
  const { name, text } = await downloaded(page, () => bar.getByRole('button', { name: 'Export selection' }).click())
  t.match(name, /^users-.*\.csv$/)
  const lines = text.trim().split('\n')
  t.equal(lines.length, 150, 'a header and 149 users')
  t.equal(lines.filter((line) => line.includes('email')).length, 1)
  t.notOk(lines.some((line) => line.includes('user1@example.org')))
})

pageTest('undoes what one row has begun, and an import after its dialog is closed', async (t) => {
  const { users, enter } = await adminHost(t, { trash: true })
  const { id } = await users.create({ name: 'Ada', email: 'ada@example.org' })
  const page = await enter()
  const dialog = page.getByRole('dialog')
  await actOnRow(page, 'Ada', 'Suspend…')
  await dialog.getByText('Suspend Ada?').waitFor()
  await dialog.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Ada is active.').waitFor()
  t.equal(await users.isActive(id), true)

  await page.getByRole('button', { name: 'Import…' }).click()
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('Full name,Mail\nBob,bob@example.org\nCyd,cyd@example.org\n')
  })
  await dialog.getByText('Bob · Cyd').waitFor()
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('2 created').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByText('3 users', { exact: true }).waitFor()
  await page.reload()
  await page.locator('summary', { hasText: 'The last import' }).click()
  await page.getByRole('button', { name: 'Undo the import' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('1 user', { exact: true }).waitFor()
  t.equal(await page.locator('summary', { hasText: 'The last import' }).count(), 0)
})

pageTest('takes back a reversal as a whole, of the status too', async (t) => {
  const { users, enter } = await adminHost(t)
  const { id } = await users.create({ name: 'Ada', email: 'ada@example.org' })
  await users.update(id, { name: 'Eve', status: 'suspended', statusReason: 'left' })
  const stored = async () => {
    const { name, status, statusReason } = await users.get(id)
    return [name, status, statusReason]
  }
  const page = await enter(`#/users/${id}`)
  await page.locator('.timeline > li', { hasText: 'Name: Ada → Eve' }).getByRole('button', { name: 'Undo' }).click()
  await page.getByText(/^The change was undone/).waitFor()
  t.strictSame(await stored(), ['Ada', 'active', null])
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { name: 'Eve', level: 1 }).waitFor()
  t.strictSame(await stored(), ['Eve', 'suspended', 'left'])
})
