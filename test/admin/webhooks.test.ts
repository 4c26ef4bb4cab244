// Webhooks on the administration page.
import {
  act, actOnRow, adminHost, downloaded, focused, pageTest, press, scrollsSideways, submit, violations
} from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'

pageTest('creates a webhook, tests it, and shows what was delivered', async (t) => {
  const receiver = await startReceiver(t)
  const { users, enter } = await adminHost(t)
  const page = await enter('#/webhooks')
  await page.getByText('There are no webhooks yet.').waitFor()
  await page.getByRole('button', { name: 'New webhook' }).click()
  const dialog = page.getByRole('dialog')
  await submit(dialog, { URL: 'http://10.0.0.1/' }, 'Create the webhook', 'Events can’t be sent to this URL')
  await dialog.getByLabel('URL').fill(receiver.url)
  await dialog.getByLabel('user.created').check()
  await submit(dialog, { Description: 'the CRM' }, 'Create the webhook', 'Copy the secret now')
  const secret = await dialog.locator('code').innerText()
  page.once('dialog', (question) => question.accept())
  await dialog.getByRole('button', { name: 'Close' }).click()

  const user = await users.create({ name: 'Ada', email: 'ada@example.org' })
  await until('the event is delivered', () => receiver.received.length === 1)
  const [first] = receiver.received
  t.ok(first !== undefined && receiver.isSigned(first, secret))
  await page.getByRole('link', { name: receiver.url }).click()
  await page.getByRole('table', { name: 'Deliveries' }).getByText('204').waitFor()
  const deliveries = page.getByRole('table', { name: 'Deliveries' })
  await deliveries.getByRole('link', { name: 'Ada' }).waitFor()
  t.match(await deliveries.innerText(), /user\.created[\s\S]*204\s+\d+ ms · /)

  await deliveries.getByRole('link', { name: 'Ada' }).click()
  await act(page, 'Data and deliveries')
  await dialog.getByText('The user, the user’s events (1), and the webhook deliveries that carried them (1).').waitFor()
  const { name, text } = await downloaded(page, () => dialog.getByRole('button', { name: 'Save as JSON' }).click())
  t.equal(name, `${user.id}.json`)
  t.match(JSON.parse(text), { user: { email: 'ada@example.org' }, events: [{ type: 'user.created' }] })
  await dialog.getByRole('link', { name: new URL(receiver.url).origin }).click()

  await press(page, 'Send a test', 'Result of the test: the receiver answered with 204.')
  await actOnRow(page, 'user.created Ada', 'Resend')
  await page.getByText('The delivery is being resent.').waitFor()
  await until('it is delivered again', () => receiver.received.length === 3)
  t.equal(receiver.received[2]?.event.id, first?.event.id)

  await act(page, 'Replay events…')
  await page.getByLabel('Replay all events since').fill('2026-01-01T00:00:00')
  await press(page.getByRole('dialog'), 'Replay events', 'The events are being replayed.')
  await until('all are delivered again', () => receiver.received.length === 4)
  t.equal(receiver.received[3]?.event.data['id'], user.id)

  await act(page, 'Rotate the secret…')
  await dialog.getByLabel('The old secret expires after').selectOption('1 hour')
  await press(dialog, 'Rotate the secret', 'Copy the secret now')
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
  t.strictSame(questions, Array(2).fill('You have not copied it, and it is not shown again. Close anyway?'))
  await press(dialog, 'Copy The secret', 'Copied.')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await act(page, 'Turn off…')
  await dialog.getByText('Nothing is sent while the webhook is off.').waitFor()
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
  await press(dialog, 'Delete', 'The webhook was deleted.')
  await page.getByText('There are no webhooks yet.').waitFor()
})

pageTest('shows why a webhook fails, and sends everything again that failed', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer = (response) => { response.writeHead(500).end('read-only') }
  const { app, users, enter } = await adminHost(t)
  const { id } = await app.webhooks.create({ url: receiver.url, types: ['user.*'] })
  for (const name of ['Ada', 'Bob', 'Cyd']) await users.create({ name, email: `${name}@example.org` })
  // The next attempt is after five minutes then.
  await until('each was tried twice', () => receiver.received.length === 6)
  const page = await enter(`#/webhooks/${id}`)
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
  await until('the failures are shown', async () => {
    await page.reload()
    await row('Ada').waitFor()
    const text = await page.getByRole('table').innerText()
    return text.match(/500\s+\d+ ms · .* · attempt 2, next in \d min/g)?.length === 3
  })
  await page.getByText(/^failing since/).waitFor()
  await actOnRow(page, 'user.created Bob', 'Details')
  const dialog = page.getByRole('dialog')
  const shown = JSON.parse(await dialog.locator('.payload[tabindex]').innerText())
  t.strictSame(shown, receiver.received.find(({ event }) => event.data['name'] === 'Bob')?.event)
  const all = (await dialog.getByRole('listitem').allInnerTexts()).join()
  t.match(all, /: the receiver .* \(500\), \d+ ms\s[^]*read-only,.*: the receiver .* \(500\), \d+ ms\s[^]*read-only$/)
  t.strictSame(await violations(page), [])
  await dialog.getByRole('button', { name: 'Close' }).click()

  await page.getByRole('button', { name: 'delivered', exact: true }).click()
  await page.getByText('No deliveries have this status.').waitFor()
  await page.getByRole('button', { name: 'scheduled', exact: true }).click()
  await row('Cyd').waitFor()
  receiver.answer = (response) => { response.writeHead(204).end() }
  await press(page, 'Resend all that failed…', '3 deliveries have failed or are waiting for another attempt.')
  t.strictSame(await violations(page), [])
  await press(dialog, 'Resend 3', '3 resent, 0 refused, 0 not tried.')
  await dialog.getByText('3 delivered, 0 failed, 0 pending.').waitFor()
  t.equal(await focused(page), 'Close')
  await dialog.getByRole('button', { name: 'Close' }).click()
  t.equal(receiver.received.length, 9)
  await page.getByText('on', { exact: true }).waitFor()
  await press(page, 'Resend all that failed…', 'No delivery has failed.')
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 360, height: 740 })
  t.equal(await scrollsSideways(page), false)
})
