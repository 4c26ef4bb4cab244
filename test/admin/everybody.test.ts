// The administration page for everybody: axe on every view, light and dark, wide and narrow, by keyboard alone, in
// another language, on paper. UPDATE=1 writes the screenshots of the docs.
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import {
  act, adminHost, edit, focused, headingHasFocus, openFilters, openTab, pageTest, scrollsSideways, signIn, submit,
  violations
} from '../helpers/admin-page.ts'
import { from } from '../helpers/level.ts'

const SCREENSHOTS = join(import.meta.dirname, '..', '..', 'docs', 'public', 'admin')
const SHOWN = ['sign-in', 'users', 'user', 'conflict', 'api-keys']
const isShown = (view: string) => process.env['UPDATE'] === '1' && SHOWN.includes(view)
const PEOPLE = [
  'Ada Lovelace', 'Grace Hopper', 'عمر الخيام', 'Katherine Johnson', 'Édouard Lucas', 'Emmy Noether', '祖沖之',
  'Sofia Kovalevskaya', 'Srinivasa Ramanujan', 'Hypatia'
]

async function populated (t: Test) {
  const host = await adminHost(t)
  const { users } = host
  for (const [i, name] of PEOPLE.entries()) {
    await users.create({ name, email: `person${i}@example.org`, plan: i % 3 === 0 ? 'pro' : 'free', seats: 5 * i + 1 })
  }
  await users.apiKeys.create({ name: 'reporting', scopes: ['users:read'], expiresIn: 86_400 * 6 })
  const { data } = await users.list()
  const [ada] = data
  if (ada === undefined) throw new Error('there is nobody')
  await users.update(ada.id, { address: { city: 'London' }, tags: ['countess'] })
  return { ...host, id: ada.id }
}

const SIZES = [
  { width: 1200, height: 800, colorScheme: 'light', name: 'wide-light' },
  { width: 360, height: 740, colorScheme: 'dark', name: 'narrow-dark' },
  { width: 1200, height: 800, colorScheme: 'dark', name: 'wide-dark' },
  { width: 360, height: 740, colorScheme: 'light', name: 'narrow-light' }
] as const

for (const [i, { name, ...size }] of SIZES.entries()) {
  pageTest(`axe finds nothing on any view, and nothing scrolls sideways: ${name}`, async (t) => {
    const { app, users, origin, createKey, id } = await populated(t)
    const page = await openTab(t, `${origin}/admin/`, size)
    const check = async (view: string, sign: ReturnType<Page['locator']>): Promise<void> => {
      await sign.waitFor()
      t.strictSame(await violations(page), [], view)
      t.equal(await scrollsSideways(page), false, `${view} fits`)
      if (!isShown(view)) return
      await page.mouse.move(0, 0)
      await page.screenshot({ path: join(SCREENSHOTS, `${view}-${name}.png`) })
    }
    const close = () => page.getByRole('dialog').getByRole('button', { name: /Close|Cancel/ }).first().click()

    await check('sign-in', page.getByLabel('API key'))
    await submit(page, { 'API key': 'wrong' }, 'Sign in')
    await check('sign-in-refused', page.getByRole('alert'))
    await signIn(page, await createKey())
    await page.goto(`${origin}/admin/#/`)
    await check('start', page.getByRole('img', { name: 'Sign-ups by day' }))
    await page.goto(`${origin}/admin/#/users`)
    await page.keyboard.press('Control+k')
    await check('palette', page.getByRole('listbox'))
    await page.keyboard.press('Escape')
    await check('users', page.getByRole('table', { name: 'List of users' }))
    await page.locator('summary', { hasText: 'Columns' }).click()
    await check('columns', page.getByLabel('ID', { exact: true }))
    await page.keyboard.press('Escape')
    await openFilters(page)
    await check('filters', page.getByRole('group', { name: 'Plan' }))
    await page.keyboard.press('Escape')
    await page.getByLabel('Select Ada Lovelace').check()
    await check('users-chosen', page.getByText('1 user selected'))
    await page.getByRole('button', { name: 'Delete…' }).click()
    await check('bulk-delete', page.getByRole('dialog'))
    await close()
    await page.locator('summary', { hasText: 'Export in another format' }).click()
    await check('export', page.getByRole('button', { name: 'NDJSON' }))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Import' }).click()
    await check('import', page.getByRole('dialog'))
    await close()
    await page.goto(`${origin}/admin/#/users/new`)
    await page.getByRole('button', { name: 'Create the user' }).click()
    await check('new-user', page.getByRole('alert'))
    await page.goto(`${origin}/admin/#/users/${id}`)
    await check('user', page.getByText('created this user'))
    await page.locator('main .menu > summary').click()
    await check('user-actions', page.getByRole('button', { name: 'Suspend' }))
    await page.keyboard.press('Escape')
    await edit(page)
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada King')
    await users.update(id, { name: 'Ada Byron' })
    await page.getByRole('button', { name: 'Save' }).click()
    await check('conflict', page.getByRole('dialog'))
    await close()
    await page.getByRole('button', { name: 'Discard' }).click()
    await act(page, 'Delete this user')
    await check('delete', page.getByRole('dialog'))
    await close()
    await page.goto(`${origin}/admin/#/api-keys`)
    await check('api-keys', page.getByText('expires in 6 days'))
    await page.getByRole('button', { name: 'New API key' }).click()
    await check('new-api-key', page.getByRole('dialog'))
    await close()
    await page.goto(`${origin}/admin/#/events`)
    await check('events', page.getByText('There are no older events.'))
    const webhook = await app.webhooks.create({
      url: 'http://127.0.0.1:1/', types: ['webhook.*'], description: 'the CRM'
    })
    await page.goto(`${origin}/admin/#/webhooks`)
    await check('webhooks', page.getByRole('table', { name: 'List of webhooks' }))
    await page.goto(`${origin}/admin/#/webhooks/${webhook.id}`)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await check('webhook', page.getByRole('table', { name: 'Deliveries' }))
  }, { skip: i > 1 && from('nightly') })
}

/** Presses Tab until something with this name has the focus, and says whether that can be seen. */
async function tabTo (page: Page, name: string): Promise<boolean> {
  const wanted = new RegExp(`^${name}$`)
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab')
    const text = String(await page.evaluate(`(() => {
      const { activeElement: element } = document
      const { labels = [] } = element
      const label = element.getAttribute('aria-label') ?? (labels?.[0] ?? element).textContent
      return label.replace(/ required$/, '').trim()
    })()`))
    if (!wanted.test(text)) continue
    return await page.evaluate(`(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
      return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
    })()`) === true
  }
  throw new Error(`the keyboard does not reach ${name}`)
}

pageTest('everything can be done with the keyboard alone, and the focus is visible', async (t) => {
  const { origin, createKey } = await populated(t)
  const key = await createKey()
  const page = await openTab(t, `${origin}/admin/#/users`)
  await page.getByLabel('API key').waitFor()
  const press = async (name: string, keys = 'Enter'): Promise<void> => {
    t.equal(await tabTo(page, name), true, `the focus on ${name} is visible`)
    await page.keyboard.press(keys)
  }
  const type = async (name: string, text: string): Promise<void> => {
    t.equal(await tabTo(page, name), true, `the focus on ${name} is visible`)
    await page.keyboard.type(text)
  }
  await type('API key', key)
  await page.keyboard.press('Enter')
  await page.getByText('10 users').waitFor()

  await press('New user')
  await page.getByRole('heading', { name: 'New user' }).waitFor()
  t.equal(await focused(page), 'New user', 'the heading has the focus')
  await type('Name', 'Mary Somerville')
  await type('E-mail address', 'mary@example.org')
  await press('Create the user')
  await page.getByText('Mary Somerville was created.').waitFor()
  await page.getByRole('button', { name: 'Edit' }).waitFor()
  await page.keyboard.press('e')
  await type('Name', ' Fairfax')
  await press('Discard')
  await headingHasFocus(page)

  await press('Actions')
  await press('Delete this user…')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.equal(await focused(page), 'Actions', 'the focus is given back')
  await page.keyboard.press('Enter')
  await press('Delete this user…')
  await type('Type the name to confirm: Mary Somerville', 'Mary Somerville')
  await page.keyboard.press('Enter')
  await page.getByText('11 users').waitFor({ state: 'detached' })
  await page.getByText('10 users').waitFor()

  // From the top: the link past the sections comes first.
  await page.evaluate('document.activeElement.blur(); document.body.focus()')
  await press('Skip to the content')
  t.equal(await page.evaluate('document.activeElement.tagName'), 'H1')
  await press('Select all users on this page', 'Space')
  await page.getByText('10 users selected').waitFor()
  await press('API keys')
  await page.getByRole('table', { name: 'List of API keys' }).waitFor()
})

pageTest('speaks another language, from right to left', async (t) => {
  const { users, origin, createKey } = await adminHost(t, {
    admin: {
      language: 'ar',
      direction: 'rtl',
      texts: {
        'signIn.key': 'مفتاح',
        'signIn.submit': 'دخول',
        'users.title': 'المستخدمون',
        'users.total': { one: 'مستخدم واحد', two: 'مستخدمان', few: '{count} مستخدمين', other: '{count} مستخدم' }
      }
    }
  })
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  await users.create({ name: 'عمر', email: 'omar@example.org' })
  const page = await openTab(t, `${origin}/admin/#/users`)
  await submit(page, { مفتاح: await createKey() }, 'دخول')
  await page.getByText('مستخدمان', { exact: true }).waitFor()
  t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'المستخدمون')
  t.strictSame(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]'), ['ar', 'rtl'])
  const [heading, table] = [page.getByRole('heading', { level: 1 }), page.locator('.table-box')]
  const right = async (part: typeof table) => {
    const { x, width } = Object(await part.boundingBox())
    return x + width
  }
  t.equal(Math.round(await right(heading)), Math.round(await right(table)), 'the heading begins where the table does')
  t.strictSame(await violations(page), [])
  t.equal(await scrollsSideways(page), false)
})

pageTest('a printed list has its rows and no controls', async (t) => {
  const { enter } = await populated(t)
  const page = await enter()
  await page.getByRole('table').waitFor()
  await page.emulateMedia({ media: 'print' })
  const text = await page.locator('body').innerText()
  t.ok(PEOPLE.every((name) => text.includes(name)))
  t.equal(await page.locator('button:visible, input:visible, select:visible, nav:visible').count(), 0)
})
