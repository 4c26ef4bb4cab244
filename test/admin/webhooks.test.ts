// Webhooks on the administration page.
import { test } from 'tap'
import {
  act, adminHost, downloaded, openTab, scrollsSideways, signIn, skip, violations
} from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'

test('creates a webhook, tests it, and shows what was delivered', { skip }, async (t) => {
  const receiver = await startReceiver(t)
  const { users, origin, createKey } = await adminHost(t)
  const { page, troubles } = await openTab(t, `${origin}/admin/#/webhooks`)
  await signIn(page, await createKey())
  await page.getByText('There are no webhooks yet.').waitFor()
  await page.getByRole('button', { name: 'New webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill('http://10.0.0.1/')
  await dialog.getByRole('button', { name: 'Create the webhook' }).click()
  await dialog.getByText('Events can’t be sent to this URL').waitFor()
  await dialog.getByLabel('URL').fill(receiver.url)
  await dialog.getByLabel('user.created').check()
  await dialog.getByLabel('Description').fill('the CRM')
  await dialog.getByRole('button', { name: 'Create the webhook' }).click()
  await dialog.getByText('Copy the secret now').waitFor()
  const secret = await dialog.locator('code').innerText()
  page.once('dialog', (question) => question.accept())
  await dialog.getByRole('button', { name: 'Close' }).click()

  const user = await users.create({ name: 'Ada', email: 'ada@example.org' })
  await until('the event is delivered', () => receiver.received.length === 1)
  const [first] = receiver.received
  t.ok(first !== undefined && receiver.isSigned(first, secret))
  await page.getByRole('link', { name: receiver.url }).click()
  await page.getByText('delivered', { exact: true }).waitFor()
  const deliveries = page.getByRole('table', { name: 'Deliveries' })
  await deliveries.getByRole('link', { name: 'Ada' }).waitFor()
  t.match(await deliveries.innerText(), /user\.created[\s\S]*the receiver answered with 204, \d+ ms · /)

  await deliveries.getByRole('link', { name: 'Ada' }).click()
  await act(page, 'Data and deliveries')
  await dialog.getByText('The user, its events (1), and the deliveries to webhooks that carried them (1).').waitFor()
  const { name, text } = await downloaded(page, () => dialog.getByRole('button', { name: 'Save as JSON' }).click())
  t.equal(name, `${user.id}.json`)
  t.match(JSON.parse(text), { user: { email: 'ada@example.org' }, events: [{ type: 'user.created' }] })
  await dialog.getByRole('link', { name: new URL(receiver.url).origin }).click()

  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText('The test ended: the receiver answered with 204.').waitFor()
  await page.getByRole('button', { name: /^Resend ?:/ }).last().click()
  await page.getByText('It is sent again.').waitFor()
  await until('it is delivered again', () => receiver.received.length === 3)
  t.equal(receiver.received[2]?.event.id, first?.event.id)

  await act(page, 'Replay events…')
  await page.getByLabel('Replay all events since').fill('2026-01-01T00:00:00')
  await page.getByRole('dialog').getByRole('button', { name: 'Replay events' }).click()
  await page.getByText('The events are being replayed.').waitFor()
  await until('all are delivered again', () => receiver.received.length === 4)
  t.equal(receiver.received[3]?.event.data['id'], user.id)

  await act(page, 'Rotate the secret…')
  await dialog.getByLabel('The old secret ends after').selectOption('1 hour')
  await dialog.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByText('Copy the secret now').waitFor()
  t.not(await page.locator('.secret code').innerText(), secret)
  const questions: string[] = []
  page.on('dialog', async (question) => {
    questions.push(question.message())
    await question.dismiss()
  })
  await page.evaluate("location.hash = '#/users'")
  await until('leaving asks', () => questions.length === 1)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await until('closing asks', () => questions.length === 2)
  t.strictSame(questions, Array(2).fill('It is not shown again. Close it without having copied it?'))
  await dialog.getByRole('button', { name: 'Copy The secret' }).click()
  await dialog.getByText('Copied.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await act(page, 'Turn off…')
  await dialog.getByText('Nothing is sent while it is off.').waitFor()
  await dialog.getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('off', { exact: true }).waitFor()
  await act(page, 'Turn on')
  await page.getByText('on', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Edit…' }).click()
  await dialog.getByLabel('all events').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('all events').waitFor()
  await act(page, 'Delete…')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('The webhook was deleted.').waitFor()
  await page.getByText('There are no webhooks yet.').waitFor()
  t.strictSame(troubles, [])
})

test('shows why a webhook fails, and sends everything again that failed', { skip }, async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer = (response) => { response.writeHead(500).end() }
  const { app, users, origin, createKey } = await adminHost(t)
  const key = await createKey()
  const payload = { url: receiver.url, types: ['user.*'] }
  const made = await app.inject({
    method: 'POST', url: '/v1/webhooks', headers: { authorization: `Bearer ${key}` }, payload
  })
  const { id } = made.json()
  for (const name of ['Ada', 'Bob', 'Cyd']) await users.create({ name, email: `${name}@example.org` })
  // The next attempt is after five minutes then.
  await until('each was tried twice', () => receiver.received.length === 6)
  const { page, troubles } = await openTab(t, `${origin}/admin/#/webhooks/${id}`)
  await signIn(page, key)
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
  await until('the failures are shown', async () => {
    await page.reload()
    await row('Ada').waitFor()
    const text = await page.getByRole('table').innerText()
    return text.match(/the receiver answered with an error \(500\), \d+ ms · .* · 2 attempts/g)?.length === 3
  })
  await page.getByText(/^failing since/).waitFor()
  t.match(await row('Ada').innerText(), /failed 2 times, next try in \d minutes/)
  await row('Bob').getByRole('button', { name: 'Details' }).click()
  const dialog = page.getByRole('dialog')
  const shown = JSON.parse(await dialog.locator('.payload').innerText())
  t.strictSame(shown, receiver.received.find(({ event }) => event.data['name'] === 'Bob')?.event)
  const all = (await dialog.getByRole('listitem').allInnerTexts()).join()
  t.match(all, /: the receiver .* \(500\), \d+ ms,.*: the receiver .* \(500\), \d+ ms$/)
  t.strictSame(await violations(page), [])
  await dialog.getByRole('button', { name: 'Close' }).click()

  receiver.answer = (response) => { response.writeHead(204).end() }
  await page.getByRole('button', { name: 'Resend all that failed…' }).click()
  await dialog.getByText('3 deliveries have failed, or wait to be tried once more.').waitFor()
  t.strictSame(await violations(page), [])
  await dialog.getByRole('button', { name: 'Resend 3' }).click()
  await dialog.getByText('3 are sent again, 0 refused, 0 not tried.').waitFor()
  await dialog.getByText('3 delivered, 0 failed, 0 on their way.').waitFor()
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Close')
  await dialog.getByRole('button', { name: 'Close' }).click()
  t.equal(receiver.received.length, 9)
  await page.getByText('on', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Resend all that failed…' }).click()
  await dialog.getByText('Nothing has failed.').waitFor()
  await page.keyboard.press('Escape')
  t.strictSame(troubles, [])
  await page.setViewportSize({ width: 360, height: 740 })
  t.equal(await scrollsSideways(page), false)
})
