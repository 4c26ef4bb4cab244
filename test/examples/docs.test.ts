// The service's reference page in a real browser.
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { test, type Test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { readConfig } from '../../examples/standalone/config.ts'
import { newTab, pageTest } from '../helpers/browser.ts'

async function service (t: Test) {
  const app = await buildApp(readConfig({ DATABASE_URL: 'memory:', API_KEY_ROUTES: 'true' }), false)
  t.teardown(() => app.close())
  const { key } = await app.users.apiKeys.create({ name: 'browser' })
  return { app, key, origin: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

test('the page has a strict policy, the API has none, and the page does not describe itself', async (t) => {
  const { origin } = await service(t)
  const page = await fetch(`${origin}/docs`)
  t.equal(page.status, 200)
  t.equal(page.headers.get('content-security-policy'), "default-src 'none';script-src 'self';style-src 'self';" +
    "img-src 'self' data:;connect-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'")
  const api = await fetch(`${origin}/v1/users`)
  t.equal(api.headers.get('content-security-policy'), null)
  const { paths } = Object(await (await fetch(`${origin}/openapi.json`)).json())
  t.strictSame(Object.keys(paths).filter((path) => path.includes('docs')), [])
})

/** Opens an operation, fills its body in, sends it, and gives the status and text of the answer. */
async function send (page: Page, operation: string, body?: object): Promise<{ status: string; text: string }> {
  const block: Locator = page.locator(`#operations-users-${operation}`)
  await block.locator('.opblock-summary-control').click()
  await block.locator('.try-out__btn').click()
  if (body !== undefined) await block.locator('.body-param__text').fill(JSON.stringify(body))
  await block.locator('.execute').click()
  const answer = block.locator('.live-responses-table tbody')
  return {
    status: await answer.locator('.response-col_status').innerText(),
    text: await answer.locator('.microlight').first().innerText()
  }
}

pageTest('a user is created and listed by clicking, without an error in the browser', async (t) => {
  const { app, key, origin } = await service(t)
  const page = await newTab(t, { width: 1100 })
  await page.goto(`${origin}/docs`)
  await page.locator('.btn.authorize').click()
  await page.locator('.auth-container input').fill(key)
  await page.locator('.auth-btn-wrapper .authorize').click()
  await page.locator('.auth-btn-wrapper .btn-done').click()
  if (process.env['UPDATE'] === '1') {
    await page.screenshot({ path: join(import.meta.dirname, '..', '..', 'examples', 'standalone', 'docs.png') })
  }

  const created = await send(page, 'createUser', { name: 'Ann', email: 'ann@example.org' })
  t.match(created, { status: '201', text: 'ann@example.org' })
  const listed = await send(page, 'listUsers')
  t.match(listed, { status: '200', text: 'ann@example.org' })
  t.match(listed.text, /"total": 1/)
  t.equal(await page.title(), 'Users: the API')
  t.match(await page.locator('.info').innerText(), /API 1[\s\S]*Sign in[\s\S]*Administration page/)
  await page.getByText('Errors', { exact: true }).click()
  t.match(await page.locator('.info').innerText(), /email_taken/, 'the codes fold')
  t.notOk((await page.locator('body').innerText()).includes(key), 'no line shows the key')
  t.match(await page.locator('#operations-users-createUser .own-curl pre').allInnerTexts(), [
    new RegExp(`^curl -X POST '${origin}/v1/users' .*"Authorization: Bearer \\$KEY".*-d '\\{\\s*"name"`, 's'),
    /-H "Authorization: Bearer \$KEY" .*-d '\{"name":"Ann","email":"ann@example.org"\}'$/s
  ], 'how it is called, and how it was')
  t.strictSame((await app.users.list()).data.map(({ email }) => email), ['ann@example.org'])
})
