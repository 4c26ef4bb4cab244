import { readFile } from 'node:fs/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { admin, type AdminOptions } from '../../lib/admin-plugin.ts'
import users, { type Scope, type Storage, type Users, type UsersOptions } from '../../lib/index.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { FIELDS, type OwnFields } from './admin-fields.ts'
import { ALL_SCOPES } from './app.ts'
import { IS_SLOW, newTab } from './browser.ts'
import { stores } from './stores.ts'
import { until } from './until.ts'
import './watch-all.ts'

export { pageTest } from './browser.ts'

/** How somebody comes to the page: with this key, or a new one with these scopes and this name. */
interface Visit {
  width: number
  height: number
  colorScheme: 'light' | 'dark'
  key: string
  scopes: Scope[]
  name: string
}

export interface AdminHost {
  app: FastifyInstance
  users: Users<OwnFields>
  origin: string
  /** Makes a key with these scopes, all by default. */
  createKey: (scopes?: Scope[], name?: string) => Promise<string>
  /** Opens a tab at a view, the list of users by default, and signs in. */
  enter: (hash?: string, visit?: Partial<Visit>) => Promise<Page>
}

interface HostOptions extends Partial<UsersOptions> {
  admin?: AdminOptions
  /** Called before the plugins are registered. */
  before?: (app: FastifyInstance) => unknown
  webhooks?: boolean
}

let hosts = 0

/** A storage for a test that names none: of each kind in turn, since the page must not know the difference. */
const anyStorage = async (t: Test): Promise<Storage> =>
  await stores[hosts++ % stores.length]?.create(t) ?? memory()

/** A server with the page at `/admin`, on any of the storages, closed with the test. */
export async function adminHost (
  t: Test,
  { admin: page = {}, before, webhooks: hasWebhooks = true, ...given }: HostOptions = {}
): Promise<AdminHost> {
  const app = Fastify()
  t.teardown(() => app.close())
  await before?.(app)
  await app.register(users, {
    prefix: '/v1',
    storage: given.storage ?? await anyStorage(t),
    migrate: true,
    eventLog: true,
    fields: { schema: FIELDS, filterable: ['plan', 'seats', 'active'] },
    ...given,
    apiKeys: { routes: true, ...given.apiKeys }
  })
  if (hasWebhooks) await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
  await app.register(admin, page)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const createKey = async (scopes = ALL_SCOPES, name = 'me') => (await app.users.apiKeys.create({ name, scopes })).key
  const own: Users<OwnFields> = app.getDecorator('users')
  const enter: AdminHost['enter'] = async (hash = '', visit = {}) => {
    const page = await openTab(t, `${origin}/admin/${hash}`, visit)
    await signIn(page, visit.key ?? await createKey(visit.scopes, visit.name))
    return page
  }
  return { app, users: own, origin, createKey, enter }
}

/** Opens a tab at an address, until something is shown. */
export async function openTab (t: Test, address: string, visit: Partial<Visit> = {}): Promise<Page> {
  const page = await newTab(t, visit)
  await page.goto(address)
  await page.locator('#page > :not(noscript)').first().waitFor()
  return page
}

/** Signs in by typing the key. Where the address names no view, at the list of users. */
export async function signIn (page: Page, key: string): Promise<void> {
  await page.evaluate("if (location.hash === '') history.replaceState(history.state, '', '#/users')")
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).waitFor()
}

let axe: Promise<string> | undefined
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice', 'experimental']

/** What axe finds wrong with what is shown. At night it loads the style sheets too, for rules about them. */
export async function violations (page: Page): Promise<string[]> {
  axe ??= readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  if (await page.evaluate("typeof axe === 'undefined'") === true) await page.evaluate(await axe)
  const options = { runOnly: RULES, resultTypes: ['violations'], preload: IS_SLOW }
  const found: unknown = await page.evaluate(`
    axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(
      ({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))
  `)
  return Array.isArray(found) ? found.map(String) : [String(found)]
}

/** True if something would have to be scrolled sideways to be read. */
export async function scrollsSideways (page: Page): Promise<boolean> {
  return await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth') === true
}

/** Chooses a file by clicking, and gives what it holds. */
export async function downloaded (page: Page, click: () => Promise<void>): Promise<{ name: string, text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()])
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}

/** The text of what has the focus. */
export async function focused (page: Page): Promise<string> {
  return String(await page.evaluate('document.activeElement.textContent'))
}

/** Waits until the heading has the focus, as after each change of the view. */
export async function headingHasFocus (page: Page): Promise<void> {
  await until('the heading has the focus', async () => await page.evaluate('document.activeElement.tagName') === 'H1')
}

/** Clicks a button, and waits until a text is shown. */
export async function press (part: Page | Locator, button: string, said?: string | RegExp): Promise<void> {
  await part.getByRole('button', { name: button }).click()
  const page = 'page' in part ? part.page() : part
  if (said !== undefined) await page.getByText(said).waitFor()
}

/** Fills controls in, which have these beginnings of their labels. */
export async function fillIn (form: Page | Locator, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await form.getByLabel(new RegExp(`^${label}`)).fill(value)
}

/** Fills a form in, clicks a button, and waits until a text is shown. */
export async function submit (
  form: Page | Locator, values: Record<string, string>, button: string, said?: string | RegExp
): Promise<void> {
  await fillIn(form, values)
  await press(form, button, said)
}

/** Opens the form of the user that is shown. */
export async function edit (page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
}

/** Opens the filters of the list. */
export async function openFilters (page: Page): Promise<void> {
  await page.locator('summary', { hasText: 'Filters' }).click()
}

/** Chooses the value of a filter, in the open filters of the list. */
export async function chooseFilter (page: Page, name: string, value: string): Promise<void> {
  await page.getByRole('group', { name }).getByLabel(value, { exact: true }).check()
}

/** Chooses what the menu of a row offers. `of`: what the row is about. */
export async function actOnRow (page: Page, of: string, action: string): Promise<void> {
  await page.locator('summary').filter({ hasText: `Actions for ${of}` }).first().click()
  await page.locator('.menu[open]').getByRole('button', { name: action }).click()
}

/** Chooses an action of the user that is shown. */
export async function act (page: Page, name: string): Promise<void> {
  await page.locator('main > .tools summary', { hasText: 'Actions' }).click()
  await page.getByRole('button', { name }).click()
}

/** Holds requests of a method until it is called, and counts them. */
export async function hold (page: Page, method: string, url: RegExp) {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const sent: string[] = []
  await page.route(url, async (route) => {
    const { method: own, url: address } = { method: route.request().method(), url: route.request().url() }
    if (own !== method) return route.continue()
    sent.push(address)
    await released
    // The page may have given it up.
    await route.continue().catch(() => {})
  })
  return { release, sent }
}
