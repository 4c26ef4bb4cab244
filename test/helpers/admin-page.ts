import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { admin, type AdminOptions } from '../../lib/admin-plugin.ts'
import users, { type Scope, type Storage, type Users, type UsersOptions } from '../../lib/index.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { programPath } from '../servers/program.mjs'
import { ALL_SCOPES } from './app.ts'
import { stores } from './stores.ts'
import './watch-all.ts'

const CHROMIUM = programPath('chromium') ?? programPath('google-chrome')
if (CHROMIUM === undefined && process.env['REQUIRE_CHROMIUM'] !== undefined) {
  throw new Error('Chromium is required, but this machine has none')
}
/** For tests in a browser: why they are skipped on this machine, or false. */
export const skip = CHROMIUM === undefined && 'this machine has no Chromium: apt-get install chromium'

/** Fields with every kind of control. */
export const FIELDS = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free', title: 'Plan' }),
  seats: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, title: 'Seats' })),
  active: Type.Boolean({ default: true, title: 'Active' }),
  newsletter: Type.Optional(Type.Boolean({ title: 'Newsletter' })),
  born: Type.Optional(Type.String({ format: 'date', title: 'Born' })),
  seen: Type.Optional(Type.String({ format: 'date-time', title: 'Seen' })),
  note: Type.Optional(Type.String({ maxLength: 1000, title: 'Note' })),
  tags: Type.Optional(Type.Array(Type.String(), { title: 'Tags' })),
  address: Type.Optional(Type.Object({ city: Type.String({ title: 'City' }), zip: Type.Optional(Type.String()) })),
  any: Type.Optional(Type.Unknown({ title: 'Anything' }))
})
// Those with a default may be absent.
type Fields = Static<typeof FIELDS>
type OwnFields = Omit<Fields, 'plan' | 'active'> & Partial<Pick<Fields, 'plan' | 'active'>>
export const FILTERABLE = ['plan', 'seats', 'active']

export interface AdminHost {
  app: FastifyInstance
  users: Users<OwnFields>
  origin: string
  /** Makes a key with these scopes, all by default. */
  createKey: (scopes?: Scope[], name?: string) => Promise<string>
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
    fields: { schema: FIELDS, filterable: FILTERABLE },
    ...given,
    apiKeys: { routes: true, ...given.apiKeys }
  })
  if (hasWebhooks) await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
  await app.register(admin, page)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const createKey = async (scopes = ALL_SCOPES, name = 'me') => (await app.users.apiKeys.create({ name, scopes })).key
  const own: Users<OwnFields> = app.getDecorator('users')
  return { app, users: own, origin, createKey }
}

/** A tab, and what went wrong in it. */
export interface Tab {
  page: Page
  /** Messages of the console, errors, violations of the policy, requests elsewhere. Answers of the API are none. */
  troubles: string[]
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

/** Opens a tab in a browser of its own, at an address, with whatever size and colours, until something is shown. */
export async function openTab (
  t: Test,
  address: string,
  { width = 1200, height = 900, colorScheme = 'light' }: Partial<{
    width: number, height: number, colorScheme: 'light' | 'dark'
  }> = {}
): Promise<Tab> {
  const browser = await chromium.launch({ executablePath: String(CHROMIUM), args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    acceptDownloads: true,
    permissions: ['clipboard-read', 'clipboard-write']
  })
  const page = await context.newPage()
  page.setDefaultTimeout(IS_SLOW ? 60_000 : 15_000)
  if (IS_SLOW) await slowDown(context, page)
  const troubles: string[] = []
  const { origin } = new URL(address)
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      console.error('policy', violatedDirective, blockedURI)
    })
  `)
  page.on('console', (message) => {
    // The browser's own line for each answer that is no success.
    if (!message.text().startsWith('Failed to load resource: the server responded')) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) troubles.push(`request to ${url.origin}`)
  })
  await page.goto(address)
  await page.locator('#page > :not(noscript)').first().waitFor()
  return { page, troubles }
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

/** What axe finds wrong with what is shown. */
export async function violations (page: Page): Promise<string[]> {
  axe ??= readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  await page.evaluate(await axe)
  const found: unknown = await page.evaluate(`
    axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations.flatMap(
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

/** Chooses an action of the user that is shown. */
export async function act (page: Page, name: string): Promise<void> {
  await page.locator('main summary', { hasText: 'Actions' }).click()
  await page.getByRole('button', { name }).click()
}
