// The first view of the administration page: how many users, when they came, what has changed, what asks for a look.
import type { Test } from 'tap'
import { adminHost, pageTest, violations } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

const DAY_MS = 86_400_000
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString()

async function startHost (t: Test) {
  const host = await adminHost(t, { trash: true })
  const { app, users } = host
  const person = (name: string, days: number) =>
    ({ name, email: `${name.toLowerCase()}@example.org`, createdAt: daysAgo(days), updatedAt: daysAgo(days) })
  await users.import([person('Ada', 200), person('Bob', 40), person('Cid', 40), person('Dan', 3), person('Eve', 0)])
  const { data } = await users.list()
  const idOf = (name: string): string => data.find((user) => user.name === name)?.id ?? ''
  await users.update(idOf('Bob'), { status: 'suspended', statusReason: 'unpaid' })
  await users.delete(idOf('Cid'))
  await users.apiKeys.create({ name: 'reporting', scopes: ['users:read'], expiresIn: 86_400 * 6 })
  await users.apiKeys.create({ name: 'long', scopes: ['users:read'], expiresIn: 86_400 * 60 })
  const key = await host.createKey()
  const { id: webhook } = await app.webhooks.create({
    url: 'http://127.0.0.1:1/', types: ['user.updated'], description: 'the CRM'
  })
  await users.update(idOf('Dan'), { name: 'Daniel' })
  await until('the webhook fails', async () => (await app.webhooks.get(webhook)).failingSince !== undefined)
  return { ...host, key, idOf, webhook }
}

pageTest('shows what there is and what has changed, each with a link to it', async (t) => {
  const { key, idOf, webhook, enter } = await startHost(t)
  const page = await enter('#/', { key })
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  const tiles = page.getByRole('list', { name: 'Users by status' }).getByRole('link')
  await tiles.first().waitFor()
  t.strictSame((await tiles.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
    ['4 Users', '3 Active', '1 Suspended', '1 Deleted'])
  await page.getByRole('img', { name: 'Sign-ups by day' }).waitFor()
  const days = page.getByRole('table', { name: 'Sign-ups by day' }).getByRole('row')
  t.equal(await days.count(), 90)
  t.equal(await days.getByRole('cell', { name: /^[1-9]\d* users?$/ }).count(), 3)
  await page.getByRole('link', { name: '3 users' }).waitFor()
  const latest = page.getByRole('list', { name: 'Latest changes' })
  const newest = await latest.getByRole('listitem').first().innerText()
  t.match(newest, /The server itself changed Daniel\s+Name: Dan → Daniel/)
  t.equal(await latest.getByRole('link', { name: 'Daniel' }).getAttribute('href'), `#/users/${idOf('Dan')}`)
  const matters = page.locator('.matters')
  t.equal(await matters.getByRole('link', { name: 'the CRM' }).getAttribute('href'), `#/webhooks/${webhook}`)
  t.match(await matters.getByRole('link', { name: 'reporting' }).getAttribute('href'), /^#\/api-keys\?key=key_\w+$/)
  t.equal(await matters.getByRole('link', { name: 'long' }).count(), 0)
  t.strictSame(await violations(page), [])

  // One stop for Tab; arrows go from bar to bar.
  const slider = page.getByRole('slider', { name: 'Sign-ups by day' })
  await slider.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  t.match(await slider.getAttribute('aria-valuetext'), /: 1 user$/)
  await page.locator('.tooltip').getByText(': 1 user').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Daniel' }).waitFor()
  await page.getByText('1 user', { exact: true }).waitFor()
  t.equal(await page.getByRole('button', { name: /Remove the filter Created (?:from|before)/ }).count(), 2)
  await page.getByRole('link', { name: 'Overview' }).click()
  await tiles.filter({ hasText: 'suspended' }).click()
  await page.getByRole('link', { name: 'Bob' }).waitFor()
  await page.getByText('1 user', { exact: true }).waitFor()
})

pageTest('counts by weeks where there are more users than it reads', async (t) => {
  const { users, enter } = await adminHost(t, { pageSize: { default: 5, max: 5 } })
  const days = Array.from({ length: 120 }, (_, i) => i % 90)
  await users.import(days.map((day, i) =>
    ({ name: `Person ${i}`, email: `person${i}@example.org`, createdAt: daysAgo(day) })))
  const page = await enter('#/')
  await page.getByRole('img', { name: 'Sign-ups by week' }).waitFor()
  const weeks = await page.getByRole('table', { name: 'Sign-ups by week' }).getByRole('row').allInnerTexts()
  t.equal(weeks.length, 13)
  t.equal(weeks.map((week) => Number(/\t(\d+) users?$/.exec(week)?.[1])).reduce((a, b) => a + b), 120)
})
