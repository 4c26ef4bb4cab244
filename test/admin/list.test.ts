// The list of the administration page: search, columns, places that are not there.
import { test } from 'tap'
import { adminHost, openTab, signIn, skip } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

test('the last answer wins, whatever the order of answers', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  for (const name of ['Ada', 'Adam', 'Bob']) await users.create({ name, email: `${name}@example.org` })
  const { page, troubles } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  await page.getByText('3 users').waitFor()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  let searches = 0
  await page.route(/q=/, async (route) => {
    searches++
    // The first search is answered after the second.
    if (route.request().url().includes('q=ad&')) await released
    await route.continue().catch(() => {})
  })
  const search = page.getByLabel('Search by name')
  await search.pressSequentially('ad')
  await until('the first search is sent', () => searches === 1)
  await search.pressSequentially('am')
  await page.getByText('1 user', { exact: true }).waitFor()
  release()
  await search.fill('')
  await page.getByText('3 users').waitFor()
  t.equal(searches, 2, 'one request for each pause')
  t.strictSame(troubles, [])
})

test('columns are chosen, and the choice outlives the visit', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  const { id } = await users.create({ name: 'عمر', email: 'omar@example.org', tags: ['a', 'b'] })
  const key = await createKey()
  const { page, troubles } = await openTab(t, `${origin}/admin/`)
  await signIn(page, key)
  const headings = async () => (await page.getByRole('columnheader').allInnerTexts()).filter((text) => text !== '')
  t.strictSame(await headings(), ['Name', 'E-mail address', 'Plan', 'Seats', 'Active', 'Created'])
  await page.getByText('Columns', { exact: true }).click()
  await page.getByLabel('E-mail address', { exact: true }).uncheck()
  await page.getByLabel('Tags').check()
  await page.getByLabel('ID', { exact: true }).check()
  t.strictSame(await headings(), ['Name', 'Plan', 'Seats', 'Active', 'Tags', 'Created', 'ID'])
  await page.getByRole('button', { name: 'Copy ID' }).click()
  await page.getByText('Copied.').waitFor()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), id)
  await page.reload()
  await signIn(page, key)
  await page.getByText('a, b').waitFor()
  t.strictSame(await headings(), ['Name', 'Plan', 'Seats', 'Active', 'Tags', 'Created', 'ID'])
  t.strictSame(troubles, [])
})

test('a page past the last one leads to the last, and the field says so', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t, { pageSize: { default: 2, max: 2 } })
  for (const name of ['Ada', 'Bob', 'Cyd']) await users.create({ name, email: `${name}@example.org` })
  const { page } = await openTab(t, `${origin}/admin/#/users?page=2`)
  await signIn(page, await createKey())
  const field = page.getByLabel('Go to page')
  for (const [typed, becomes] of [['999999', '2'], ['0', '2'], [' 1', '1'], ['999999', '2']] as const) {
    await field.fill(typed)
    await field.press('Enter')
    await until(`${typed} becomes ${becomes}`, async () => await field.inputValue() === becomes)
  }
  await page.getByRole('link', { name: 'Cyd' }).waitFor()
})

test('says that a user is not there, and that a page is past the end', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const { page } = await openTab(t, `${origin}/admin/#/users/usr_01h455vb4pex5vsknk084sn02q`)
  await signIn(page, await createKey())
  await page.getByText('This user does not exist, or was deleted.').waitFor()
  await page.goto(`${origin}/admin/#/users?page=7`)
  await page.getByText('There is nothing on this page; the last one is page 1.').waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Last page' }).first().click()
  await page.getByRole('link', { name: 'Ada' }).waitFor()
  await page.goto(`${origin}/admin/#/users?limit=37`)
  await page.getByRole('link', { name: 'Ada' }).waitFor()
  t.equal(await page.getByLabel('Rows on a page').inputValue(), '20', 'a size that is not offered')
  await page.goto(`${origin}/admin/#/elsewhere`)
  await page.getByRole('paragraph').filter({ hasText: 'There is no such page.' }).waitFor()
})
