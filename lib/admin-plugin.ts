import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { relativePath } from './admin/relative-path.ts'
import { english, type Texts } from './admin/texts.ts'
import { converted, defaulted, optional, type OptionsOf, readOptions } from './core/option-table.ts'
import { Type } from './core/typebox.ts'
import { servedFile, serveFile } from './http/responses/static-files.ts'
import { requireMount } from './mount/mounts.ts'
import { CLOSED } from './mount/option-schemas.ts'
import { capabilitiesOperation } from './operations/capabilities.ts'

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'

// The page loads nothing from other origins and can’t be framed.
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
    "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
}

const identifier = {
  schema: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$' }),
  message: 'must be a JavaScript identifier'
}
const text = Type.Union([
  Type.String(),
  Type.Object({ other: Type.String() }, { additionalProperties: Type.String() })
])
const isKnown = (name: string): boolean => Object.hasOwn(english, name)

const optionTable = {
  /** The path of the page, below the host's own prefix. */
  prefix: converted<string, string>((given = '/admin') => given.replace(/\/+$/, ''), {
    schema: Type.String({ pattern: '^(?:/[^?#]*)?$' }),
    message: 'must be a path that begins with /, or an empty string'
  }),
  /** Name of the decorator whose users the page shows. */
  users: defaulted<string>('users', identifier),
  /**
   * For hosts with sessions of their own: the page sends cookies and the token `session` instead of an API key, and the
   * option `authenticate` of fastify-users decides. `signIn`: the address of the sign-in page, for a link.
   */
  session: optional<{ signIn?: string }>({
    schema: Type.Object({ signIn: Type.Optional(Type.String({ minLength: 1 })) }, CLOSED),
    message: 'must be an object, optionally with signIn, an address'
  }),
  /** Texts in another language, or in other words. Absent texts stay in English. */
  texts: converted<Partial<Texts>, Texts>(
    (given = {}) => ({ ...english, ...Object.fromEntries(Object.entries(given).filter(([name]) => isKnown(name))) }),
    {
      schema: Type.Record(Type.String(), text),
      message: 'must be an object of texts: strings, or plural forms with other'
    }
  ),
  /** The language of the texts, as HTML and `Intl` name it (BCP 47). */
  language: defaulted<string>('en', {
    schema: Type.String({ pattern: '^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$' }),
    message: 'must be a language tag such as en or pt-BR'
  }),
  /** The direction that the language is written in. */
  direction: defaulted<'ltr' | 'rtl'>('ltr', {
    schema: Type.Union([Type.Literal('ltr'), Type.Literal('rtl')]),
    message: 'must be ltr or rtl'
  })
}

/** The options of the administration page. */
export interface AdminOptions extends OptionsOf<typeof optionTable> {}

/** What the page reads before anybody signs in. */
export interface PageSettings {
  /** Where the API is, relative to the page. */
  api: string
  session: { signIn?: string } | null
  language: string
  direction: 'ltr' | 'rtl'
  texts: Texts
}

/** Warns of texts that the page does not have. Not an error: a version that renames a text must not stop the start. */
function warnOfUnknown (texts: Partial<Texts>, { log }: FastifyInstance, prefix: string): void {
  const unknown = Object.keys(texts).filter((name) => !isKnown(name))
  if (unknown.length === 0) return
  const words = `texts has ${unknown.join(', ')}, which this version of the page does not have`
  log.warn({ prefix }, `fastify-users/admin: ${words}`)
}

/** The files that the build has made. */
async function readPage (): Promise<Record<'html' | 'script' | 'style', string>> {
  const root = join(createRequire(import.meta.url).resolve('fastify-users/package.json'), '..')
  const read = (name: string) => readFile(join(root, 'dist', 'admin', name), 'utf8')
  const [html, script, style] = await Promise.all([read('index.html'), read('admin.js'), read('admin.css')])
  return { html, script, style }
}

const plugin: FastifyPluginAsync<AdminOptions> = async (host, given) => {
  const options = readOptions('fastify-users/admin', optionTable, given)
  warnOfUnknown(given.texts ?? {}, host, `${host.prefix}${options.prefix}`)
  const mount = requireMount(host, 'fastify-users/admin', options.users)
  if (!mount.hasOperation('getCapabilities')) {
    await mount.addOperations(host, () => [capabilitiesOperation(mount.offer)])
  }

  const { html, script, style } = await readPage()
  const { prefix, session = null, language, direction } = options
  await host.register(async function fastifyUsersAdmin (scope) {
    const api = relativePath(scope.prefix, mount.path)
    const settings: PageSettings = { api, session, language, direction, texts: options.texts }
    serveFile(scope, '/', await servedFile(HTML, html), HEADERS)
    serveFile(scope, '/admin.js', await servedFile(SCRIPT, script), HEADERS)
    serveFile(scope, '/admin.css', await servedFile(STYLE, style), HEADERS)
    serveFile(scope, '/settings.json', await servedFile(JSON_TYPE, JSON.stringify(settings)), HEADERS)
  }, { prefix })
}

/** The plugin: `await app.register(admin, { prefix: '/admin' })`, after fastify-users. */
export const admin = fp(plugin, { name: 'fastify-users-admin', fastify: '5.x || 6.x' })
export default admin
export { english, type Text, type TextName, type Texts } from './admin/texts.ts'
