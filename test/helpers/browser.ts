// Tests in a real browser: tabs that share nothing, and what goes wrong in them.
import { setTimeout } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import root, { type Test, test } from 'tap'
import { browserPath } from '../servers/program.mjs'

const CHROMIUM = browserPath()
if (CHROMIUM === undefined && process.env['REQUIRE_CHROMIUM'] !== undefined) {
  throw new Error('Chromium is required, but this machine has none')
}
/** Why tests in a browser are skipped on this machine, or false. */
const skip = CHROMIUM === undefined && 'this machine has no Chromium: apt-get install chromium'

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
export const IS_SLOW = process.env['TEST_LEVEL'] === 'nightly'

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

/** Opens a tab that shares nothing with others, and watches it. It is closed with the test. */
export async function newTab (
  t: Test,
  { width = 1200, height = 900, colorScheme = 'light' }: {
    width?: number, height?: number, colorScheme?: 'light' | 'dark'
  } = {}
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
  let own = ''
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (own === '') own = url.origin
    if (url.origin !== own && !['data:', 'blob:'].includes(url.protocol)) found.push(`request to ${url.origin}`)
  })
  return page
}
