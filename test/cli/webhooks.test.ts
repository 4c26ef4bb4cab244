// fastify-users webhooks, beside a server on the same database.
import { test } from 'tap'
import { webhooks } from '../../lib/webhooks.ts'
import { databases, serverOn } from '../helpers/cli.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'

const LOOPBACK = ['--allow-http', '--allow-networks', '127.0.0.0/8,10.1.0.0/16']

for (const { name, skip, create } of databases) {
  test(`creates, lists and replays webhooks that a server delivers, on ${name}`, { skip }, async (t) => {
    const { cli, open } = await create(t)
    await cli('migrate')
    const receiver = await startReceiver(t)
    const types = ['--types', 'user.*, api_key.created']
    const made = await cli('webhooks', 'create', '--url', receiver.url, ...types, ...LOOPBACK)
    t.match(made, {
      code: 0,
      out: /^whsec_[A-Za-z0-9+/]{43}=\n$/,
      err: /^whk_\w{26} {2}http.*\nServers deliver to such networks only with .*\nThere are no events yet/
    })
    const secret = made.out.trim()

    const app = await serverOn(t, { open }, { eventLog: true })
    await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
    await app.ready()
    await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    await until('it came', () => receiver.received.length === 1)
    t.ok(receiver.received.every((each) => receiver.isSigned(each, secret)))

    const [webhook] = (await app.webhooks.list()).data
    t.strictSame(JSON.parse((await cli('webhooks', 'list', '--json')).out), [webhook])
    const list = (await cli('webhooks', 'list')).out
    t.match(list, new RegExp(`${webhook?.id} +http\\S+ +user\\.\\* api_key\\.created +enabled`))
    t.notMatch(list, 'whsec_')

    const id = String(webhook?.id)
    t.match(await cli('webhooks', 'replay', id, '--since', '2026-01-01T00:00:00Z'), { code: 0, out: id })
    await until('it came again', () => receiver.received.length === 2)
    t.match(await cli('webhooks', 'replay', id), { code: 2, err: 'give one of --after and --since\n' })
    t.match(await cli('webhooks', 'replay', 'x', '--since', '2026-01-01T00:00:00Z'), { code: 1, err: /no webhook/ })
    t.match(await cli('webhooks', 'create', '--url', receiver.url), {
      code: 2,
      err: '--url must begin with https://; http:// needs --allow-http, and its address in --allow-networks <list>\n'
    })
    t.match(await cli('webhooks', 'create', '--url', 'https://127.0.0.1/'), {
      code: 2,
      err: '--url must not point to an internal address: allow its network with --allow-networks <list>\n'
    })
    t.match(await cli('webhooks', 'create', '--url', receiver.url, '--allow-networks', 'x'), {
      code: 2, err: /such as 10\.1\.0\.0\/16/
    })
    await app.webhooks.update(id, { enabled: false })
    t.match((await cli('webhooks', 'list')).out, / disabled /)
    const other = await cli('webhooks', 'create', '--url', receiver.url, '--description', 'CRM', '--json', ...LOOPBACK)
    t.match(JSON.parse(other.out), { description: 'CRM', secret: /^whsec_/ })
  })
}
