// The list of the administration page: search, columns, filters.
import { Type } from '@sinclair/typebox'
import {
  adminHost, chooseFilter, focused, hold, openFilters, pageTest, press, scrollsSideways, violations
} from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

pageTest('the last answer wins, headings sort, and arrow keys go from the search to the users', async (t) => {
  const { users, enter } = await adminHost(t)
  for (const name of ['Ada', 'Adam', 'Bob']) await users.create({ name, email: `${name}@example.org` })
  const page = await enter()
  await page.getByText('3 users').waitFor()
  let searches = 0
  page.on('request', (request) => { if (request.url().includes('q=')) searches++ })
  // The first search is answered after the second.
  const { release } = await hold(page, 'GET', /q=ad&/)
  const search = page.getByLabel('Search by name')
  await search.pressSequentially('ad')
  await until('the first search is sent', () => searches === 1)
  await search.pressSequentially('am')
  await page.getByText('1 user', { exact: true }).waitFor()
  release()
  await search.fill('')
  await page.getByText('3 users').waitFor()
  t.equal(searches, 2, 'one request for each pause')

  const names = async () => page.locator('tbody a.name').allInnerTexts()
  const shows = (...wanted: string[]) =>
    until(`the list shows ${wanted.join(', ')}`, async () => JSON.stringify(await names()) === JSON.stringify(wanted))
  await shows('Bob', 'Adam', 'Ada')
  await page.getByRole('button', { name: 'Sort by Name' }).click()
  await shows('Ada', 'Adam', 'Bob')
  await page.getByRole('button', { name: 'Sort by Name' }).click()
  await shows('Bob', 'Adam', 'Ada')
  t.match(await page.evaluate('location.hash'), 'sort=-name')
  await page.getByLabel('Select Bob').check()
  await page.keyboard.type('/ du')
  await page.getByText('No user matches.').waitFor()
  t.equal(await page.getByRole('dialog').count(), 0, 'what is typed into the search deletes nobody')
  await search.fill('')
  await page.keyboard.insertText(' ada\t')
  await shows('Adam', 'Ada')
  await page.keyboard.press('ArrowDown')
  t.equal(await focused(page), 'Adam')
  await page.keyboard.press('ArrowDown')
  t.equal(await focused(page), 'Ada')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Adam', level: 1 }).waitFor()

  await page.getByText('me', { exact: true }).click()
  await page.getByLabel('Keyboard shortcuts').uncheck()
  await page.keyboard.press('Escape')
  await page.keyboard.press('e')
  t.equal(await page.getByRole('button', { name: 'Save' }).count(), 0, 'the keys are turned off')
})

pageTest('columns are chosen, and the choice outlives the visit', async (t) => {
  const { users, enter } = await adminHost(t)
  const { id } = await users.create({ name: 'عمر', email: 'omar@example.org', tags: ['a', 'b'] })
  const page = await enter()
  const headings = async () => (await page.getByRole('columnheader').allInnerTexts())
    .map((text) => text.replace(/[↑↓↕]/, '').trim()).filter((text) => text !== '')
  await page.getByRole('link', { name: 'عمر' }).waitFor()
  t.strictSame(await headings(), ['Name', 'E-mail address', 'Plan', 'Seats', 'Active', 'Created', 'Actions'])
  await page.locator('summary', { hasText: 'Columns' }).click()
  await page.getByLabel('E-mail address', { exact: true }).uncheck()
  await page.getByLabel('Tags').check()
  await page.getByLabel('ID', { exact: true }).check()
  t.strictSame(await headings(), ['Name', 'Plan', 'Seats', 'Active', 'Tags', 'Created', 'ID', 'Actions'])
  await page.keyboard.press('Escape')
  await press(page, 'Copy ID', 'Copied.')
  t.equal(await page.evaluate('navigator.clipboard.readText()'), id)
  await page.reload()
  await page.getByText('a, b').waitFor()
  t.strictSame(await headings(), ['Name', 'Plan', 'Seats', 'Active', 'Tags', 'Created', 'ID', 'Actions'])
})

pageTest('a page past the last one leads to the last, and the field says so', async (t) => {
  const { users, enter } = await adminHost(t, { pageSize: { default: 2, max: 2 } })
  for (const name of ['Ada', 'Bob', 'Cyd']) await users.create({ name, email: `${name}@example.org` })
  const page = await enter('#/users?page=2')
  const field = page.getByLabel('Go to page')
  const pager = page.getByRole('navigation', { name: 'Pages' })
  await pager.locator('summary').click()
  for (const [typed, becomes] of [['999999', '2'], ['0', '2'], [' 1', '1'], ['999999', '2']] as const) {
    await field.fill(typed)
    await field.press('Enter')
    await until(`${typed} becomes ${becomes}`, async () => await field.inputValue() === becomes)
  }
  await page.getByRole('link', { name: 'Ada' }).waitFor()
  await field.focus()
  // In one turn, before the page is drawn again.
  await page.evaluate(`
    const input = document.activeElement
    input.value = '1'
    input.form.requestSubmit()
  `)
  await page.getByRole('link', { name: 'Cyd' }).waitFor()
})

pageTest('rows stand under the filters that they answer alone', async (t) => {
  const { users, enter } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org', plan: 'free' })
  const page = await enter()
  const box = page.getByLabel('Select Ada')
  await box.check()
  let fail = (): void => {}
  const failed = new Promise<void>((resolve) => { fail = resolve })
  await page.route(/plan=pro/, async (route) => {
    await failed
    await route.abort()
  })
  await openFilters(page)
  await chooseFilter(page, 'Plan', 'pro')
  await until('the rows of before can’t be ticked', async () => await box.isDisabled())
  t.equal(await page.getByText('user selected').count(), 0)
  fail()
  await page.getByText('The server could not be reached.').waitFor()
  t.equal(await page.getByRole('table').count(), 0)
}, { makesTroubles: true })

pageTest('the way back leads to the filters, the page and the place that were left', async (t) => {
  const { users, origin, enter } = await adminHost(t)
  const operations = Array.from({ length: 120 }, (_, i) =>
    ({ op: 'create' as const, body: { name: `User ${i}`, email: `user${i}@example.org`, plan: 'pro' as const } }))
  await users.batch(operations)
  const page = await enter('#/users?plan=pro&limit=50&page=2&sort=createdAt')
  const link = page.getByRole('link', { name: 'User 95', exact: true })
  await link.scrollIntoViewIfNeeded()
  const scrolled = async () => Number(await page.evaluate("document.querySelector('.table-box')?.scrollTop ?? 0"))
  const before = await scrolled()
  t.ok(before > 0)
  await link.click()
  await page.getByRole('heading', { name: 'User 95', level: 1 }).waitFor()
  t.equal(await page.title(), `User 95 · Users · ${new URL(origin).host}`)
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await until('the place is found again', async () => await scrolled() === before)
  t.equal(await page.evaluate('location.hash'), '#/users?plan=pro&limit=50&page=2&sort=createdAt')
  t.equal(await page.title(), `Users · ${new URL(origin).host}`)
  await page.getByRole('row', { name: 'User 95' }).getByText('user95@example.org').click()
  await page.getByRole('heading', { name: 'User 95', level: 1 }).waitFor()
  await page.goBack()
  await until('the place is found again', async () => await scrolled() === before)
})

pageTest('choices without a type are shown, and filters that are set have a button each', async (t) => {
  const { users, enter } = await adminHost(t, {
    fields: { schema: Type.Object({ kind: Type.Unsafe({ enum: ['a', 'b'], title: 'Kind' }) }), filterable: ['kind'] }
  })
  await users.create({ name: 'Ada', email: 'ada@example.org', ...{ kind: 'a' } })
  await users.create({ name: 'Bob', email: 'bob@example.org', ...{ kind: 'b' } })
  const page = await enter('#/users?kind=a&status=active')
  await page.getByText('1 user', { exact: true }).waitFor()
  t.equal(await page.locator('td[data-label="Kind"]').innerText(), 'a')
  await page.getByText('Filters (2)').waitFor()
  await press(page, 'Remove the filter Kind: a', '2 users')
  t.equal(await page.evaluate('location.hash'), '#/users?status=active')
})

pageTest('rows begin high up and are low, and cards are low on a phone', async (t) => {
  const { users, enter } = await adminHost(t)
  for (let i = 0; i < 5; i++) {
    const { id } = await users.create({
      name: `User ${i} ${'x'.repeat(100)}`, email: `user${i}@example.org`, note: 'y'.repeat(500)
    })
    await users.update(id, { status: 'suspended', statusReason: 'z'.repeat(200) })
  }
  const page = await enter('#/users?columns=email,note,plan,createdAt')
  for (const { width, height, top, row } of [
    { width: 1280, height: 900, top: 200, row: 41 }, { width: 390, height: 844, top: 250, row: 110 }
  ]) {
    await page.setViewportSize({ width, height })
    await page.reload()
    const first = page.getByRole('table').getByRole('row').nth(1)
    await first.waitFor()
    const { y, height: tall } = Object(await first.boundingBox())
    t.ok(y <= top, `${width}: the first row begins at ${y}`)
    t.ok(tall <= row, `${width}: a row has ${tall}`)
    const cell = Object(await first.locator('td.is-name .cell').boundingBox())
    const badge = Object(await first.getByText('suspended', { exact: true }).boundingBox())
    t.ok(badge.x + badge.width <= cell.x + cell.width, `${width}: the badge is shown whole`)
    await first.getByRole('checkbox').check()
    await page.getByText('1 user selected').waitFor()
    t.equal(Object(await first.boundingBox()).y, y, `${width}: no row moves under the pointer`)
    t.equal(await scrollsSideways(page), false)
  }
})

pageTest('on a phone a selection covers no focus, and a tap beside the open filters closes them alone', async (t) => {
  const { users, enter } = await adminHost(t)
  for (let i = 0; i < 20; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org`, plan: 'pro' })
  const page = await enter('#/users', { width: 390, height: 844 })
  await page.getByLabel('Select User 19').check()
  await page.getByText('1 user selected').waitFor()
  t.strictSame(await page.evaluate(`[...document.querySelectorAll('a.name')].filter((name) => {
    name.focus()
    return name.getBoundingClientRect().bottom > document.querySelector('.selection').getBoundingClientRect().top
  }).map(({ textContent }) => textContent)`), [], 'the bar of a selection covers no name that has the focus')
  await page.evaluate('scrollTo(0, 0)')
  t.strictSame(await violations(page), [])
  await page.getByRole('button', { name: 'Clear', exact: true }).click()

  await openFilters(page)
  const panel = page.getByRole('group', { name: 'Plan' })
  await chooseFilter(page, 'Plan', 'pro')
  await page.getByLabel('Created from').fill('2020-10-01')
  await page.getByRole('button', { name: 'Remove the filter Created from' }).waitFor()
  t.match(await page.evaluate('decodeURIComponent(location.hash)'), 'createdAt[gte]=2020-09-30T22:00:00.000Z')
  await page.getByRole('button', { name: 'Show 20 users' }).click()
  await panel.waitFor({ state: 'hidden' })
  await openFilters(page)
  await page.mouse.click(195, 60)
  await panel.waitFor({ state: 'hidden' })
  t.match(await page.evaluate('location.hash'), /^#\/users\?/)
})
