import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { Static } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import root, { type Test, test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { admin, type AdminOptions } from '../../lib/admin-plugin.ts'
import users, { type Scope, type Storage, type Users, type UsersOptions } from '../../lib/index.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { browserPath } from '../servers/program.mjs'
import { FIELDS } from './admin-fields.ts'
import { ALL_SCOPES } from './app.ts'
import { stores } from './stores.ts'
import { until } from './until.ts'
import './watch-all.ts'

const CHROMIUM = browserPath()
if (CHROMIUM === undefined && process.env['REQUIRE_CHROMIUM'] !== undefined) {
  throw new Error('Chromium is required, but this machine has none')
}
/** Why tests in a browser are skipped on this machine, or false. */
const skip = CHROMIUM === undefined && 'this machine has no Chromium: apt-get install chromium'

// Those with a default may be absent.
type Fields = Static<typeof FIELDS>
type OwnFields = Omit<Fields, 'plan' | 'active'> & Partial<Pick<Fields, 'plan' | 'active'>>

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

/** Messages of the console, errors, breaches of the policy, requests elsewhere. Answers of the API are no troubles. */
const troubles = new WeakMap<Test, string[]>()

/** A test in a browser, which fails for any trouble in a tab, unless it makes some itself. */
export function pageTest (
  name: string, body: (t: Test) => Promise<unknown>,
  { makesTroubles = false, skip: further = false }: { makesTroubles?: boolean, skip?: string | false } = {}
): void {
  test(name, { skip: skip || further }, async (t) => {
    await body(t)
    if (!makesTroubles) t.strictSame(troubles.get(t) ?? [], [], 'no tab has troubles')
  })
}

/** True in the whole nightly run, which shows what a test does not wait for: each answer, each frame comes late. */
const IS_SLOW = process.env['TEST_LEVEL'] === 'nightly'

/** Has the answers come late and the tab work slowly, as on a busy machine behind a slow network. */
async function slowDown (context: BrowserContext, page: Page): Promise<void> {
  await context.route('**/*', async (route) => {
    await setTimeout(250)
    await route.fallback()
  })
  await page.addInitScript(`
    const frame = requestAnimationFrame.bind(window)
    window.requestAnimationFrame = (draw) => frame(() => setTimeout(draw, 60))
  `)
  const devTools = await context.newCDPSession(page)
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: 3 })
}

let browser: Promise<Browser> | undefined

/** The browser of all tests of this process: to start one takes longer than many a test. */
function ourBrowser (): Promise<Browser> {
  if (browser === undefined) {
    browser = chromium.launch({ executablePath: String(CHROMIUM), args: ['--no-sandbox'] })
    root.teardown(async () => (await browser)?.close())
  }
  return browser
}

/** Opens a tab that shares nothing with others, at an address, until something is shown. It is closed with the test. */
export async function openTab (
  t: Test,
  address: string,
  { width = 1200, height = 900, colorScheme = 'light' }: Partial<Visit> = {}
): Promise<Page> {
  const context = await (await ourBrowser()).newContext({
    viewport: { width, height },
    colorScheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write']
  })
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(IS_SLOW ? 60_000 : 15_000)
  if (IS_SLOW) await slowDown(context, page)
  const found = troubles.get(t) ?? []
  troubles.set(t, found)
  const { origin } = new URL(address)
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      console.error('policy', violatedDirective, blockedURI)
    })
  `)
  page.on('console', (message) => {
    // The browser's own line for each answer that is no success.
    if (!message.text().startsWith('Failed to load resource: the server responded')) found.push(message.text())
  })
  page.on('pageerror', (error) => found.push(error.message))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) found.push(`request to ${url.origin}`)
  })
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
