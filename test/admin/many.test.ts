// What the administration page does with many users: export and bulk deletion.
import { Readable } from 'node:stream'
import {
  adminHost, type AdminHost, chooseFilter, downloaded, focused, openFilters, pageTest, press, submit
} from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

pageTest('exports what is filtered, as CSV and NDJSON', async (t) => {
  const { app, users, createKey, enter } = await adminHost(t, { pageSize: { max: 50 } })
  const key = await createKey()
  await users.create({ name: '=1+1', email: 'a@example.org', plan: 'pro', note: 'say "hi",\nthen go', seats: 5 })
  await users.create({
    name: 'Ömer', email: 'b@example.org', plan: 'pro', address: { city: 'Köln' }, tags: ['x'], note: '\'@x'
  })
  for (let i = 0; i < 120; i++) await users.create({ name: `free ${i}`, email: `free${i}@example.org` })
  const page = await enter('', { key })
  await openFilters(page)
  await chooseFilter(page, 'Plan', 'pro')
  await page.getByText('2 users').waitFor()
  const dialog = page.getByRole('dialog', { name: 'Export users' })
  const start = () => page.getByRole('button', { name: 'Export CSV' }).click()
  const csv = await downloaded(page, start)
  t.match(csv.name, /^users-\d{4}-\d{2}-\d{2}\.csv$/)
  const headers = { authorization: `Bearer ${key}` }
  const { body } = await app.inject({ url: '/v1/users/export?format=csv&plan=pro', headers })
  t.equal(csv.text, `\uFEFF${body}`, 'what the API exports, with a mark for spreadsheets')
  await page.getByText('The file has 2 users.').waitFor()

  await openFilters(page)
  await chooseFilter(page, 'Plan', 'any')
  await page.getByText('122 users').waitFor()
  await page.locator('summary', { hasText: 'Export in another format' }).click()
  const { text } = await downloaded(page, () => page.getByRole('button', { name: 'NDJSON' }).click())
  const lines = text.trimEnd().split('\n').map((line) => Object(JSON.parse(line)))
  t.equal(new Set(lines.map(({ id }) => id)).size, 122)
  t.strictSame(lines[1].address, { city: 'Köln' })
  await page.getByText('The file has 122 users.').waitFor()

  // Cancelled while it is made: nothing is saved.
  let held = 0
  await page.route(/\/users\/export/, () => { held++ })
  await start()
  await until('the users are asked for', () => held === 1)
  await dialog.getByText('0 of 122 users').waitFor()
  await press(dialog, 'Cancel', 'Cancelled: no file was saved.')
  t.equal(await focused(page), 'Export CSV')
})

pageTest('an export that the server breaks off saves no file', async (t) => {
  const { users, enter } = await adminHost(t, {
    before: (app) => app.addHook('onSend', async ({ url }, _reply, payload) => url.includes('/users/export')
      ? Readable.from((async function * () {
        for await (const chunk of Readable.from(Object(payload))) yield chunk
        throw new Error('the storage fails')
      })())
      : payload)
  })
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const page = await enter()
  const downloads: unknown[] = []
  page.on('download', (download) => downloads.push(download))
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export users' })
  await dialog.getByText('The server could not be reached.').waitFor()
  t.strictSame(downloads, [])
}, { makesTroubles: true })

/** Makes many users, together. */
async function crowd ({ users }: Pick<AdminHost, 'users'>, length: number): Promise<void> {
  await users.batch(Array.from({ length }, (_, i) =>
    ({ op: 'create' as const, body: { name: `User ${i}`, email: `user${i}@example.org` } })))
}

pageTest('a bulk deletion can be stopped, and says what it has not done', async (t) => {
  const { users, enter } = await adminHost(t)
  await crowd({ users }, 250)
  const page = await enter()
  await page.getByLabel('Select all users on this page').check()
  await press(page, 'Select all 250 matching users', '250 users selected')
  await until('the first action has the focus', async () =>
    await focused(page) === 'Export selection')
  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Type the number').fill('250')
  let sent = 0
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  await page.route(/\/users\/batch/, async (route) => {
    if (++sent === 2) await released
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog', { name: 'Deleting 250 users' }).getByText('100 of 250 done').waitFor()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  release()
  const ended = page.getByRole('dialog', { name: '200 users deleted' })
  await ended.getByText('200 done, 0 refused, 50 not tried.').waitFor()
  t.equal(sent, 2)
  t.equal((await users.list()).meta.total, 50)
  t.equal(await focused(page), 'Close')
  await page.keyboard.press('Enter')
  await page.getByText('50 users selected').waitFor()
})

pageTest('a bulk deletion that reaches a limit names who is left', async (t) => {
  const { users, enter } = await adminHost(t, { limits: { deletions: { max: 5, window: 3600 } } })
  for (let i = 0; i < 20; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org` })
  const page = await enter()
  await page.getByLabel('Select all users on this page').check()
  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog')
  await submit(dialog, { 'Type the number': '20' }, 'Delete', /^5 done, 15 refused, 0 not tried\.$/)
  t.match(await dialog.innerText(), /Too many requests\. Try again in [\d,]+ seconds?\./)
})

pageTest('the focus is never lost with what was selected', async (t) => {
  const { users, enter } = await adminHost(t, { pageSize: { default: 2, max: 2 } })
  for (let i = 0; i < 3; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org` })
  const page = await enter('#/users?page=2')
  const isAtHeading = async () => await page.evaluate('document.activeElement.tagName') === 'H1'
  const select = async () => {
    await page.getByLabel('Select User 0').check()
    t.equal(await isAtHeading(), false)
  }
  await select()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await until('the heading has the focus', isAtHeading)
  await select()
  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog')
  await submit(dialog, { 'Type the number': '1' }, 'Delete', 'User 0 was deleted.')
  await until('the heading has the focus', isAtHeading)
  const lastPage = page.getByRole('main').getByRole('button', { name: 'Last page' }).first()
  await page.getByText('This page is empty. The last page is 1.').waitFor()
  await lastPage.focus()
  t.equal(await isAtHeading(), false)
  await lastPage.press('Enter')
  await until('the heading has the focus', isAtHeading)
})

pageTest('sets a field of those that are selected, or removes it', async (t) => {
  const { users, enter } = await adminHost(t)
  for (let i = 0; i < 3; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org`, tags: ['a'] })
  const page = await enter()
  const dialog = page.getByRole('dialog')
  const set = async (field: string): Promise<void> => {
    await page.getByLabel('Select all users on this page').check()
    await page.getByRole('button', { name: 'Set a field…' }).click()
    await dialog.getByLabel('Field').selectOption(field)
  }
  const submit = async () => dialog.getByRole('button', { name: 'Set a field' }).click()
  const stored = async (name: 'plan' | 'tags' | 'seats') => (await users.list()).data.map((user) => Object(user)[name])
  await set('Plan')
  await dialog.getByLabel('Plan').selectOption('pro')
  await submit()
  await page.getByText('3 users changed').waitFor()
  // Whoever is selected before the list is there again would be changed in the version of before, which is refused.
  await until('the list shows the change', async () =>
    (await page.locator('td[data-label="Plan"]').allInnerTexts()).join() === 'pro,pro,pro')
  t.strictSame(await stored('plan'), ['pro', 'pro', 'pro'])
  await set('Tags')
  // Before the list is there again, what is selected is selected no more once it is.
  const listed = page.waitForResponse((answer) => answer.request().method() === 'GET' && /users\?/.test(answer.url()))
  await submit()
  await listed
  await until('no user has tags', async () => (await stored('tags')).every((tags) => tags === undefined))
  t.strictSame(await stored('plan'), ['pro', 'pro', 'pro'], 'other fields stay')
  await set('Seats')
  await dialog.getByLabel('Seats').fill('1.5')
  await submit()
  await dialog.getByText('0 done, 3 refused, 0 not tried.').waitFor()
  t.strictSame(await stored('seats'), [undefined, undefined, undefined])
})
