// The administration page: finding by what an operator has, such as an id from a log or a key that leaked.
import type { Page } from 'playwright-core'
import { adminHost, pageTest, violations } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

/** The addresses that the page requests. */
function requestsOf (page: Page): string[] {
  const urls: string[] = []
  page.on('request', (request) => urls.push(decodeURIComponent(request.url())))
  return urls
}

pageTest('the palette and the list find by ids in any case, addresses of a user, and the start of a key', async (t) => {
  const { users, origin, enter } = await adminHost(t)
  const ada = await users.create({ name: 'Ada Lovelace', email: 'ada@example.org' })
  await users.create({ name: 'Bob Ray', email: 'bob@example.org' })
  const key = await users.apiKeys.create({ name: 'billing', owner: 'Ops' })
  const [event] = (await users.events.list({ subject: ada.id })).data
  const page = await enter()
  const finds = async (text: string, option: string): Promise<void> => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(text)
    await page.getByRole('dialog').getByRole('option', { name: option }).waitFor()
    t.equal(await page.getByRole('dialog').getByRole('option').count(), 1, text)
    await page.keyboard.press('Enter')
  }
  for (const text of [
    ada.id.toUpperCase(), `${origin}/v1/users/${ada.id}`, `${origin}/admin/#/users/${ada.id}?q=x`, ` "${ada.id}",`
  ]) {
    await finds(text, 'Ada Lovelace')
    await page.getByRole('heading', { name: 'Ada Lovelace', level: 1 }).waitFor()
    t.equal(await page.evaluate('location.hash'), `#/users/${ada.id}`)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  }
  for (const text of [key.id.toUpperCase(), key.start]) {
    await finds(text, `billing (${key.start}…)`)
    await page.getByRole('dialog', { name: 'billing' }).getByText(key.id).waitFor()
    await page.keyboard.press('Escape')
  }
  await finds(String(event?.id).toUpperCase(), 'user.created: Ada Lovelace')
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  await page.getByRole('row').filter({ hasText: 'user.created' }).waitFor()
  t.equal(await page.getByRole('row').count(), 2, 'the heading and the event')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('usr_00000000000000000000000000')
  await page.getByText('Nothing matches.').waitFor()
  await page.keyboard.press('Escape')

  // The search of the list does the same, and links to what is no user.
  await page.getByRole('link', { name: 'Users', exact: true }).click()
  const search = page.getByRole('search').getByLabel('Search by name or e-mail address')
  for (const text of [ada.id.toUpperCase(), `${origin}/v1/users/${ada.id}`]) {
    await search.fill(text)
    await page.getByText('1 user', { exact: true }).waitFor()
    t.strictSame(await page.locator('tbody a.name').allInnerTexts(), ['Ada Lovelace'])
    t.equal(await page.locator('.toolbar + p.hint').count(), 0, 'nothing is said of two letters')
    await search.fill('')
    await page.getByText('2 users').waitFor()
  }
  await search.fill(key.id)
  await page.getByRole('link', { name: `billing (${key.start}…)` }).waitFor()
  t.strictSame(await violations(page), [])
  await search.fill(String(event?.id))
  await page.getByRole('link', { name: 'user.created: Ada Lovelace' }).click()
  await page.getByRole('row').filter({ hasText: 'user.created' }).waitFor()
})

pageTest('of a key that is pasted into a search no more than its start is kept or sent', async (t) => {
  const { users, origin, enter } = await adminHost(t)
  const { key, start } = await users.apiKeys.create({ name: 'billing' })
  const page = await enter()
  const urls = requestsOf(page)
  const secret = key.slice(start.length + 1)
  const search = page.getByRole('search').getByRole('searchbox')
  await search.fill(`Authorization: Bearer ${key}`)
  await page.getByRole('link', { name: `billing (${start}…)` }).waitFor()
  t.equal(await search.inputValue(), start)
  await search.fill(key)
  t.equal(await search.inputValue(), start, 'the same once more')

  await page.keyboard.press('Control+k')
  const box = page.getByRole('dialog').getByRole('combobox')
  await box.fill(key)
  await page.getByRole('dialog').getByRole('option', { name: 'billing' }).waitFor()
  t.equal(await box.inputValue(), start)
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByLabel('Search API keys').fill(key)
  await until('the keys are searched', () => urls.some((url) => url.includes('/api-keys?page=') &&
    url.includes(`start=${start}`)))
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByLabel('Actor').fill(key)
  t.equal(await page.getByLabel('Actor').inputValue(), start)
  await page.goto(`${origin}/admin/#/users?q=${key}`)
  await page.getByRole('link', { name: `billing (${start}…)` }).waitFor()
  t.strictSame(urls.filter((url) => new URL(url).search.includes(secret.slice(0, 10))), [])
})

pageTest('the keys are searched by words of name and owner, by id and by start', async (t) => {
  const { users, enter } = await adminHost(t)
  const billing = await users.apiKeys.create({ name: 'Billing run', owner: 'Team Zoë' })
  await users.apiKeys.create({ name: 'reports', owner: 'Ops' })
  const page = await enter('#/api-keys')
  const search = page.getByLabel('Search API keys')
  const names = async () => page.locator('td.is-name a.name').allInnerTexts()
  const shows = (text: string, ...wanted: string[]) => until(`${text} finds ${wanted.join(', ')}`, async () =>
    JSON.stringify(await names()) === JSON.stringify(wanted))
  await shows('nothing', 'me', 'reports', 'Billing run')
  for (const text of ['zoe bill', billing.id.toUpperCase(), billing.start, billing.key]) {
    await search.fill(text)
    await shows(text, 'Billing run')
    await search.fill('')
    await shows('nothing', 'me', 'reports', 'Billing run')
  }
  await search.fill('nobody')
  await page.getByText('No API key matches.').waitFor()
  t.strictSame(await violations(page), [])
})

pageTest('finds what belongs to another tenant than the page is narrowed to', async (t) => {
  const { users, origin, enter } = await adminHost(t, { tenants: true })
  const zoe = await users.tenant('globex').create({ name: 'Zoë', email: 'zoe@example.org' })
  const key = await users.tenant('globex').apiKeys.create({ name: 'backend' })
  await users.tenant('acme').create({ name: 'Ada', email: 'ada@example.org' })
  const page = await enter('#/@acme/users')
  const go = async (text: string, option: string): Promise<void> => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(text)
    await page.getByRole('dialog').getByRole('option', { name: option }).click()
  }
  await go(zoe.id, 'Zoë')
  await page.getByRole('heading', { name: 'Zoë', level: 1 }).waitFor()
  t.equal(await page.evaluate('location.hash'), `#/users/${zoe.id}`)
  await page.goto(`${origin}/admin/#/@acme/users`)
  await page.getByRole('link', { name: 'Ada' }).waitFor()
  await go(key.start, 'backend')
  await page.getByRole('dialog', { name: 'backend' }).getByText(key.id).waitFor()
})
