import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { html, script, style } from '#admin-page'
import { accentStyle } from './admin/brand.ts'
import { type AdminOptions, adminOptionTable, isTextName } from './admin/options.ts'
import type { PageSettings } from './admin/page-settings.ts'
import { relativePath } from './admin/relative-path.ts'
import type { Texts } from './admin/texts.ts'
import { readOptions } from './core/option-table.ts'
import { endConnectionsOnClose } from './http/break-off.ts'
import { servedFile, serveFile } from './http/responses/static-files.ts'
import { withOwnPrefix } from './mount/host.ts'
import { requireMount } from './mount/mounts.ts'
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

/** Warns of texts that the page does not have. Not an error: a version that renames a text must not stop the start. */
function warnOfUnknown (texts: Partial<Texts>, { log }: FastifyInstance, prefix: string): void {
  const unknown = Object.keys(texts).filter((name) => !isTextName(name))
  if (unknown.length === 0) return
  const words = `texts has ${unknown.join(', ')}, which this version of the page does not have`
  log.warn({ prefix }, `fastify-users/admin: ${words}`)
}

const plugin: FastifyPluginAsync<AdminOptions> = async (host, given) => {
  const options = readOptions('fastify-users/admin', adminOptionTable, given)
  warnOfUnknown(given.texts ?? {}, host, `${host.prefix}${options.prefix}`)
  const mount = requireMount(host, 'fastify-users/admin', options.users)
  if (!mount.hasOperation('getCapabilities')) {
    await mount.addOperations(host, () => [capabilitiesOperation(mount.offer)])
  }

  const { prefix, session = null, title = null, logo, accent, texts, language, direction } = options
  const styles = accent === undefined ? style : style + accentStyle(accent)
  await withOwnPrefix('fastify-users/admin', host.register(async function fastifyUsersAdmin (scope) {
    endConnectionsOnClose(scope)
    const api = relativePath(scope.prefix, mount.path)
    const settings: PageSettings = { api, session, title, logo, language, direction, texts }
    serveFile(scope, '/', await servedFile(HTML, html), HEADERS)
    serveFile(scope, '/admin.js', await servedFile(SCRIPT, script), HEADERS)
    serveFile(scope, '/admin.css', await servedFile(STYLE, styles), HEADERS)
    serveFile(scope, '/settings.json', await servedFile(JSON_TYPE, JSON.stringify(settings)), HEADERS)
  }, { prefix }))
}

/** The plugin: `await app.register(admin, { prefix: '/admin' })`, after fastify-users. */
export const admin = fp(plugin, { name: 'fastify-users-admin', fastify: '5.x || 6.x' })
export default admin
export type { AdminOptions } from './admin/options.ts'
export type { PageSettings } from './admin/page-settings.ts'
export { english, type Text, type TextName, type Texts } from './admin/texts.ts'
