// No spelling of a path reaches a route without a key, whatever the options of the host's router.
import { test } from 'tap'
import { inject, testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'

const ID = 'usr_01h455vb4pex5vsknk084sn02q'

test('refuses every spelling of a path under every router option', async (t) => {
  const options = ['ignoreDuplicateSlashes', 'ignoreTrailingSlash', 'useSemicolonDelimiter', 'caseSensitive'] as const
  const open: string[] = []
  // None and all, and at night each alone.
  const alone = from('nightly') === false ? [0b0001, 0b0010, 0b0100, 0b1000] : []
  for (const bits of [0b0000, 0b1111, ...alone]) {
    const routerOptions = Object.fromEntries(
      options.map((name, i) => [name, name === 'caseSensitive' ? ((bits >> i) & 1) === 0 : ((bits >> i) & 1) === 1])
    )
    const { app } = await testApp(t, { apiKeys: { routes: true }, server: { routerOptions } })
    for (const path of [
      '/users', `/users/${ID}`, '/api-keys', `/api-keys/${ID}`, `/api-keys/${ID}/rotate`, '/api-keys/current'
    ]) {
      const tricks = [
        path, `${path}/`, `/${path}`, path.toUpperCase(), `${path};x`, `${path}?x`, path.replace('s', '%73'),
        `${path}/.`, `/x/..${path}`, `/.${path}`, `${path}%2f`, `${path}%00`, `${path}#x`, path.replace('/', '/%2e/'),
        path.replaceAll('/', '\\')
      ].map((trick) => `/v1${trick}`)
      for (const trick of [...tricks, `//v1${path}`, `/V1${path}`]) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          const { statusCode, body } = await inject(app, method, trick)
          if (![401, 404].includes(statusCode) || /"data"|"start"/.test(body)) {
            open.push(`${JSON.stringify(routerOptions)} ${method} ${trick}: ${statusCode}`)
          }
        }
      }
    }
  }
  t.strictSame(open, [])
})
