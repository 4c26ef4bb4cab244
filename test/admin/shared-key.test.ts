// Tabs of the administration page that share a key.
import type { Page } from 'playwright-core'
import { adminHost, openTab, pageTest, signIn, submit } from '../helpers/admin-page.ts'

async function another (page: Page, address: string): Promise<Page> {
  const tab = await page.context().newPage()
  tab.setDefaultTimeout(15_000)
  await tab.goto(address)
  return tab
}

pageTest('a kept key is taken over by other tabs, until one of them signs out', async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const address = `${origin}/admin/#/users`
  const page = await openTab(t, address)
  const waiting = await another(page, address)
  await waiting.getByLabel('API key').waitFor()
  const typing = await another(page, address)
  await typing.getByLabel('API key').fill('uk_')
  await page.getByLabel('Stay signed in').check()
  await signIn(page, await createKey())
  await waiting.getByRole('link', { name: 'Ada' }).waitFor()
  const later = await another(page, `${origin}/admin/#/users/new`)
  await later.getByLabel(/^Name/).fill('Bob')
  t.equal(await typing.getByLabel('API key').inputValue(), 'uk_', 'who types another key is let alone')
  t.strictSame(await page.evaluate('[localStorage.length, document.cookie]'), [0, ''])

  await waiting.getByText('me', { exact: true }).click()
  await waiting.getByRole('button', { name: 'Sign out' }).click()
  for (const tab of [page, waiting, later]) {
    await tab.getByLabel('API key').waitFor()
    t.equal(await tab.evaluate('sessionStorage.length'), 0)
  }
})

pageTest('a key that is not kept is in no other tab, and stays when another signs out', async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const address = `${origin}/admin/#/users`
  const page = await openTab(t, address)
  await signIn(page, await createKey())
  const kept = await another(page, address)
  await kept.getByLabel('Stay signed in').check()
  await signIn(kept, await createKey(undefined, 'another'))
  await kept.getByText('another', { exact: true }).click()
  await kept.getByRole('button', { name: 'Sign out' }).click()
  await kept.getByLabel('API key').waitFor()
  await page.getByRole('link', { name: 'Ada' }).click()
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
})

pageTest('whoever signs in again goes on, and without the tick the key is no longer kept', async (t) => {
  const { app, users, origin, createKey } = await adminHost(t, { apiKeys: { cache: 0 } })
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const [key, next] = [await createKey(), await createKey(undefined, 'next')]
  const page = await openTab(t, `${origin}/admin/#/users`)
  await page.getByLabel('Stay signed in').check()
  await signIn(page, key)
  const link = page.getByRole('link', { name: 'Ada' })
  await link.waitFor()
  await app.inject({ method: 'DELETE', url: '/v1/api-keys/current', headers: { authorization: `Bearer ${key}` } })
  await link.click()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await submit(dialog, { 'API key': next }, 'Sign in')
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
})
