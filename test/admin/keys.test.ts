// API keys on the administration page.
import {
  actOnRow, adminHost, focused, openTab, pageTest, press, scrollsSideways, signIn, submit, violations
} from '../helpers/admin-page.ts'
import { ALL_SCOPES } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { until } from '../helpers/until.ts'

const DAY = 86_400

pageTest('creates, rotates and revokes keys; a text is shown once', async (t) => {
  const { app, users, createKey, enter } = await adminHost(t, { apiKeys: { cache: 0 } })
  const key = await createKey()
  await users.apiKeys.create({ name: 'soon', expiresIn: 5 * DAY + 60 })
  await users.apiKeys.create({ name: 'today', expiresIn: 3600 })
  const gone = await users.apiKeys.create({ name: 'gone' })
  await users.apiKeys.revoke(gone.id)
  const page = await enter('#/api-keys', { key })
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
  t.match(await row('soon').innerText(), /expires in 5 days/)
  t.match(await row('today').innerText(), /expires within 24 hours/)
  t.match(await row('gone').innerText(), /revoked/)
  t.match(await row('me').innerText(), /the key you are signed in with[\s\S]*active/)
  t.equal(await row('gone').getByRole('button').count(), 0)
  for (const button of await row('me').getByRole('button').all()) {
    t.ok(Object(await button.boundingBox()).height < 40, 'its word is on one line')
  }

  await page.getByRole('button', { name: 'New API key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New API key' })
  await press(dialog, 'Create the key', 'This is required.')
  await dialog.getByLabel('Name').fill('reporting')
  await dialog.getByLabel('keys:read see API keys, but not their secrets').check()
  await dialog.getByLabel('Expires after').selectOption('90 days')
  await press(dialog, 'Create the key', 'Copy the key now: it is not shown again.')
  const text = await dialog.locator('code').innerText()
  await press(dialog, 'Copy The new key', 'Copied.')
  t.equal(await page.evaluate('navigator.clipboard.readText()'), text)
  await dialog.getByRole('button', { name: 'Close' }).click()
  const made = (await users.apiKeys.list()).data.find(({ name }) => name === 'reporting')
  t.strictSame(made?.scopes, ['users:read', 'keys:read'])
  t.ok(Math.abs(Date.parse(String(made?.expiresAt)) - Date.now() - 90 * DAY * 1000) < 60_000)
  t.notMatch(await page.content(), text)
  const answerTo = async (token: string) =>
    (await app.inject({ url: '/v1/users', headers: { authorization: `Bearer ${token}` } })).statusCode
  t.equal(await answerTo(text), 200)

  await actOnRow(page, 'reporting', 'Rotate')
  const rotation = page.getByRole('dialog', { name: 'Rotate reporting' })
  await rotation.getByLabel('The new key expires after').selectOption('30 days')
  await rotation.getByLabel('The old key stops working after').selectOption('now')
  await press(rotation, 'Rotate', 'Copy the key now')
  const next = await rotation.locator('code').innerText()
  page.once('dialog', (question) => question.accept())
  await rotation.getByRole('button', { name: 'Close' }).click()
  // The list is read again once; a key that is made before would stand first in it.
  await row('reporting').nth(1).waitFor()
  t.strictSame([await answerTo(text), await answerTo(next)], [401, 200])
  const replacement = (await users.apiKeys.list()).data.find(({ rotatedFrom }) => rotatedFrom === made?.id)
  t.ok(Math.abs(Date.parse(String(replacement?.expiresAt)) - Date.now() - 30 * DAY * 1000) < 60_000)
  t.match(await row('reporting').first().innerText(), /active/, 'what lives for 30 days does not expire soon')

  const { id = '' } = (await users.apiKeys.list()).data.findLast(({ name }) => name === 'reporting') ?? {}
  const successor = await users.apiKeys.rotate(id)
  await actOnRow(page, 'reporting', 'Revoke')
  const revocation = page.getByRole('dialog', { name: 'Revoke reporting?' })
  await revocation.getByLabel('Also revoke every key that replaced this one.').check()
  await press(revocation, 'Revoke', 'reporting was revoked.')
  t.strictSame([await answerTo(next), await answerTo(successor.key)], [401, 401])
})

pageTest('the focus is never lost, and a key’s text is never lost by accident', async (t) => {
  const { users, origin, createKey } = await adminHost(t, { apiKeys: { cache: 0 } })
  const key = await createKey()
  await users.apiKeys.create({ name: 'other', scopes: ['users:read'] })
  const page = await openTab(t, `${origin}/admin/#/api-keys`)
  await until('signing in begins at the key', async () =>
    await page.evaluate('document.activeElement.type') === 'password')
  await signIn(page, key)
  const focus = (text: string) => until(`the focus is on ${text}`, async () =>
    String(await focused(page)).startsWith(text))
  await page.getByRole('button', { name: 'New API key' }).click()
  const dialog = page.getByRole('dialog')
  await submit(dialog, { Name: 'x' }, 'Create the key', 'Copy the key now')
  await focus('Copy')
  const asked = page.waitForEvent('dialog').then(async (question) => {
    await question.dismiss()
    return question.message()
  })
  await page.keyboard.press('Escape')
  t.equal(await asked, 'You have not copied it, and it is not shown again. Close anyway?')
  page.once('dialog', (question) => question.accept())
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await focus('New API key')

  await actOnRow(page, 'other', 'Revoke')
  t.equal(await dialog.getByText('You are signed in with this key').count(), 0)
  await press(dialog, 'Revoke', 'other was revoked.')
  await focus('API keys')
  await actOnRow(page, 'me', 'Revoke')
  await dialog.getByText('You are signed in with this key. Revoking it signs you out.').waitFor()
  await press(dialog, 'Revoke', 'This is the last key that can grant these scopes. Create another one first.')
})

for (const { days, lifetimes, chosen } of [
  { days: 100, lifetimes: ['30 days', '90 days'], chosen: '30 days' },
  { days: 7, lifetimes: [], chosen: 'when your own key expires' },
  { days: 500, lifetimes: ['30 days', '90 days', '1 year'], chosen: '30 days' }
]) {
  pageTest(`a key that ends in ${days} days can create others that end with it or before`, async (t) => {
    const { users, enter } = await adminHost(t)
    await users.apiKeys.create({ name: 'endless', scopes: ALL_SCOPES })
    const own = await users.apiKeys.create({ name: 'own', scopes: ALL_SCOPES, expiresIn: days * DAY })
    const page = await enter('#/api-keys', { key: own.key })
    await page.getByRole('button', { name: 'New API key' }).click()
    const lifetime = page.getByLabel('Expires after')
    t.strictSame(await lifetime.locator('option').allInnerTexts(), [...lifetimes, 'when your own key expires'])
    t.equal(await lifetime.locator('option:checked').innerText(), chosen)
    await lifetime.selectOption('when your own key expires')
    await submit(page, { Name: 'other' }, 'Create the key', 'Copy the key now')
    const made = (await users.apiKeys.list()).data.find(({ name }) => name === 'other')
    t.equal(made?.expiresAt, own.expiresAt)
  }, { skip: days !== 100 && from('nightly') })
}

pageTest('a key that may not create others is offered nothing of it', async (t) => {
  const { enter } = await adminHost(t)
  const page = await enter('#/api-keys', { scopes: ['users:read', 'keys:read'] })
  await page.getByText('Some of this is hidden, because your key lacks the scope keys:write.').waitFor()
  t.equal(await page.getByRole('button', { name: /New API key|Rotate|Revoke/ }).count(), 0)
})

pageTest('shows whose a key is and what binds it, and creates one with an owner', async (t) => {
  const { users, enter } = await adminHost(t)
  const page = await enter('#/api-keys')
  const headings = async () => page.getByRole('columnheader').allInnerTexts()
  await page.getByText('the key you are signed in with').waitFor()
  t.notOk((await headings()).includes('Owner'), 'no key has one')
  await users.apiKeys.create({
    name: 'bound', owner: 'Ops', addresses: ['203.0.113.0/24', '2001:db8::/32'], rateLimit: { max: 600, window: 60 }
  })
  await page.getByRole('button', { name: 'New API key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New API key' })
  await submit(dialog, { Name: 'reporting', Owner: 'x'.repeat(201) }, 'Create the key', 'This is too long.')
  await submit(dialog, { Owner: 'Team Zoë' }, 'Create the key', 'Copy the key now: it is not shown again.')
  await press(dialog, 'Copy The new key', 'Copied.')
  await dialog.getByRole('button', { name: 'Close' }).click()
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
  t.match(await row('reporting').innerText(), /Team Zoë/)
  await row('bound').getByRole('link', { name: 'bound' }).click()
  const bound = await page.getByRole('dialog', { name: 'bound' }).innerText()
  for (const text of ['Ops', '203.0.113.0/24', '2001:db8::/32', '600 requests in 60 s']) {
    t.ok(bound.includes(text), text)
  }
  const all = await headings()
  t.strictSame(['Tenant', 'Owner'].map((each) => all.includes(each)), [false, true])
  t.equal((await users.apiKeys.list()).data.find(({ name }) => name === 'reporting')?.owner, 'Team Zoë')

  await page.setViewportSize({ width: 820, height: 900 })
  const { x, width } = Object(await page.locator('td.is-actions summary').first().boundingBox())
  t.ok(x + width <= 820, `what can be done with a key is in view on a tablet: it ends at ${x + width}`)
  t.equal(await scrollsSideways(page), false)
  // The scrolling that brings a button into view may be told after its menu has opened, and before that is told.
  await page.evaluate(`document.querySelector('td.is-actions summary').click()
    document.dispatchEvent(new Event('scroll'))
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`)
  t.equal(await page.locator('.menu.actions[open]').count(), 1, 'a menu stays open')
})

pageTest('lists the newest keys first, and links a key with those before and after it', async (t) => {
  const { users, origin, enter } = await adminHost(t)
  const old = await users.apiKeys.create({ name: 'billing', scopes: ['users:read'] })
  const { start } = await users.apiKeys.rotate(old.id)
  const page = await enter('#/api-keys')
  await page.getByRole('table').waitFor()
  t.strictSame((await page.locator('td.is-name a.name').allInnerTexts()), ['me', 'billing', 'billing'])
  t.equal(await page.locator('td.is-scopes').first().innerText(), 'users:read users:write users:delete and 7 more')
  await page.getByRole('link', { name: `replaced by ${start}…` }).waitFor()
  await page.getByRole('link', { name: `replaces ${old.start}…` }).click()
  const dialog = page.getByRole('dialog', { name: 'billing' })
  await dialog.getByText(old.id).waitFor()
  t.strictSame(await violations(page), [])
  await dialog.getByRole('link', { name: start }).click()
  // Not that of the key before it, which has a link of that name too.
  await dialog.getByText(`${start}…`, { exact: true }).waitFor()
  t.match(await dialog.innerText(), new RegExp(`Begins with\\s+${start}…`))
  await dialog.getByRole('button', { name: 'Revoke…' }).click()
  const question = page.getByRole('dialog', { name: 'Revoke billing?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.goto(`${origin}/admin/#/api-keys?key=${old.id}`)
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  t.equal(await page.evaluate('location.hash'), '#/api-keys')
  await users.apiKeys.revoke(old.id)
  const names = async () => (await page.locator('td.is-name a.name').allInnerTexts()).join()
  for (const [state, found] of [['revoked', 'billing'], ['active', 'me,billing'], ['expired', '']] as const) {
    await page.getByLabel('Status').selectOption(state)
    await until(`those that are ${state}`, async () => await names() === found)
  }
  await page.goto(`${origin}/admin/#/api-keys?key=key_00000000000000000000000000`)
  await page.getByText('This API key does not exist.').waitFor()
})
