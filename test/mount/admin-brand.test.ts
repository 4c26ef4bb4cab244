// The title, logo and accent that a host gives the administration page.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { admin } from '../../lib/admin-plugin.ts'
import users from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { untyped } from '../helpers/untyped.ts'

test('has the host’s title and logo in its settings, and its accent in its styles', async (t) => {
  const svg = '<?xml version="1.0"?>\n<!-- ours -->\n<svg xmlns="http://www.w3.org/2000/svg"/>'
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const svgUrl = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
  const pngUrl = `data:image/png;base64,${png.toString('base64')}`
  for (const [logo, shown] of [
    [svg, svgUrl], [Buffer.from(svg), svgUrl], [png, pngUrl], [new Uint8Array(png), pngUrl], [pngUrl, pngUrl],
    [Buffer.from('GIF89a…'), /^data:image\/gif;base64,/],
    [Buffer.from('ffd8ffe0', 'hex'), /^data:image\/jpeg;base64,/],
    [Buffer.from('RIFF1234WEBPVP8 '), /^data:image\/webp;base64,/]
  ] as const) {
    const { app } = await testApp(t)
    await app.register(admin, { title: 'Acme', logo })
    const settings = (await app.inject('/admin/settings.json')).json()
    t.equal(settings.title, 'Acme')
    t.match(settings.logo, shown)
  }
  const { app } = await testApp(t)
  await app.register(admin, { accent: '#FC0' })
  await app.register(admin, { prefix: '/plain' })
  const plain = await app.inject('/plain/admin.css')
  const { payload, headers } = await app.inject('/admin/admin.css')
  // Yellow can't be read as text on white: it is darker there, and itself on black and in buttons.
  t.equal(payload.slice(plain.payload.length),
    ':root{--accent:#856a00;--fill:#ffcc00;--on-fill:#000000}' +
    '@media (prefers-color-scheme:dark){:root{--accent:#ffcc00;--fill:#ffcc00;--on-fill:#000000}}')
  t.not(headers.etag, plain.headers.etag)
})

test('refuses a title, an accent and a logo that can’t be shown', async (t) => {
  const refused = async (options: object, message: RegExp) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(users, { prefix: '/v1', storage: memory() })
    await t.rejects(Promise.resolve(app.register(admin, untyped(options))), { message })
  }
  for (const title of ['', ' ', ' Acme', 'Acme\n', 'a\u0000b', 'x'.repeat(61), 5]) {
    await refused({ title }, /title must be 1 to 60 characters in one line, without spaces at the ends/)
  }
  for (const accent of ['red', '#12345', '#1234567', '0b57c2', '#ggg', 5]) {
    await refused({ accent }, /accent must be a colour such as #0b57c2/)
  }
  for (const logo of [
    'https://example.org/logo.png', '/logo.png', 'data:text/html,<p>', Buffer.from('<p><svg/></p>'), Buffer.from(''),
    `<svg>${' '.repeat(32 * 1024)}</svg>`, `data:image/png;base64,${'A'.repeat(50_000)}`, 5, null
  ]) {
    await refused({ logo }, /logo must be a data: URL of an image, .* of at most 32 KiB: the page loads nothing/)
  }
})
