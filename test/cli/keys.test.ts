// fastify-users keys, beside a server on the same database.
import { test } from 'tap'
import { databases, run, serverOn } from '../helpers/cli.ts'
import '../helpers/watch-all.ts'

const PEPPER = 'a-pepper-of-more-than-32-characters'
const OPTIONS = { pepper: PEPPER, cache: 0, countUses: true }

for (const { name, skip, create } of databases) {
  test(`creates, lists, rotates and revokes keys that a server on ${name} honours`, { skip }, async (t) => {
    const { url, args, open, execute } = await create(t)
    const cli = (...given: string[]) =>
      run([...given, ...args], { DATABASE_URL: url, FASTIFY_USERS_PEPPER: PEPPER })
    const json = async (...given: string[]) => JSON.parse((await cli('keys', ...given, '--json')).out)
    t.match(await cli('keys', 'list'), { code: name === 'sqlite' ? 2 : 1, out: '' }, 'there are no tables yet')
    t.match(await cli('migrate'), { code: 0, err: '' })

    const made = await cli('keys', 'create', '--name', 'ci', '--scopes', 'users:read', '--expires-in', '90d')
    t.equal(made.code, 0)
    t.match(made.out, /^uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$/, 'the key alone on standard output')
    t.match(made.err, /^key_\w{26} {2}users:read {2}expires \d{4}-.*\nThe key, shown only now:\n$/)

    const app = await serverOn(t, { open }, { prefix: '/v1', apiKeys: OPTIONS })
    const statusOf = async (key: string) => {
      const headers = { authorization: `Bearer ${key.trim()}` }
      return (await app.inject({ url: '/v1/users', headers })).statusCode
    }
    t.equal(await statusOf(made.out), 200)

    const [{ id: first }] = await json('list')
    t.match(await cli('keys', 'uses', first), {
      code: 0,
      out: '',
      err: 'No uses are stored: the key was not used, or the servers do not count uses (option apiKeys.countUses; ' +
        'COUNT_KEY_USES of the standalone service).\n'
    }, 'the server has not stored what it has counted')
    t.equal((await app.users.apiKeys.uses(first)).data.length, 1)
    t.match(await cli('keys', 'uses', first), { code: 0, out: /^DAY +USES\n\d{4}-\d\d-\d\d +1\n$/, err: '' })
    t.match(await json('uses', first), [{ day: /^\d{4}-\d\d-\d\d$/, uses: 1 }])
    t.match(await cli('keys', 'uses', 'key_none'), { code: 1, out: '', err: 'There is no API key with this id.\n' })

    // Servers store it later, and leave it out if they are too busy.
    const lastUsedAt = '2999-01-01T00:00:00.000Z'
    await execute(`UPDATE @fastify_users_api_keys SET last_used_at = '${lastUsedAt}'`)
    const listed = await cli('keys', 'list', '--json')
    const [record, ...others] = JSON.parse(listed.out)
    t.match(record, { name: 'ci', scopes: ['users:read'], start: made.out.slice(0, 15), lastUsedAt })
    t.strictSame([others, listed.err], [[], ''])
    const members = ['createdAt', 'expiresAt', 'id', 'lastUsedAt', 'name', 'scopes', 'start']
    t.strictSame(Object.keys(record).sort(), members)

    const successor = await json('rotate', record.id, '--overlap', '1h')
    t.match(successor, { name: 'ci', scopes: ['users:read'], rotatedFrom: record.id })
    t.strictSame(await Promise.all([made.out, successor.key].map(statusOf)), [200, 200])
    t.strictSame(await cli('keys', 'revoke', successor.id), {
      code: 0,
      out: `${successor.id} is revoked. Servers that cached it refuse it within apiKeys.cache, 5 seconds by default.\n`,
      err: ''
    })
    t.equal(await statusOf(successor.key), 401)

    const third = await json('create', '--name', 'leaked')
    t.strictSame(third.scopes, ['users:read', 'users:write', 'users:delete'], 'as over HTTP')
    const fourth = await json('rotate', third.id, '--no-expires')
    t.equal(fourth.expiresAt, undefined)
    t.strictSame(await cli('keys', 'revoke', third.id, '--successors'), {
      code: 0,
      out: `${fourth.id} is revoked too: it is a successor.\n` +
        `${third.id} is revoked. Servers that cached it refuse it within apiKeys.cache, 5 seconds by default.\n`,
      err: ''
    })
    t.strictSame(await Promise.all([third.key, fourth.key].map(statusOf)), [401, 401])

    const provider = JSON.parse((await cli('scim', 'keys', 'create', '-n', 'okta', '--owner', 'IT', '--json')).out)
    t.match(provider, { name: 'okta', scopes: ['scim:users', 'scim:groups'], owner: 'IT', expiresAt: /^\d{4}-/ })
    t.match(await cli('scim', 'keys', 'create'), { code: 2, out: '', err: /--name/ })
    t.match(await cli('keys', 'revoke', provider.id), { code: 0 })

    const unpeppered = await run(['keys', 'list', '--json', ...args], { DATABASE_URL: url, FASTIFY_USERS_PEPPER: '' })
    t.match(unpeppered, { code: 0, err: '' }, 'an empty pepper is none, as for the standalone service')

    const bounds = ['--owner', 'Team Zoë', '--addresses', '10.0.0.0/8, 2001:db8::1/128', '--rate-limit', '600/1m']
    const bounded = await json('create', '-n', 'bound', ...bounds)
    t.match(bounded, {
      owner: 'Team Zoë', addresses: ['10.0.0.0/8', '2001:db8::1/128'], rateLimit: { max: 600, window: 60 }
    })

    const forever = await json('create', '-n', 'for ever', '--no-expires', '--key-prefix', 'acme')
    t.strictSame([forever.expiresAt, forever.key.slice(0, 5)], [undefined, 'acme_'])
    const table = await cli('keys', 'list')
    t.match(table.out, new RegExp([
      '^ID +NAME +STATE +SCOPES +START +CREATED +EXPIRES +LAST USED +OWNER',
      `${record.id}  ci        active   users:read .*`,
      `${successor.id}  ci        revoked  .*`,
      `${third.id}  leaked    revoked  .*`,
      `${fourth.id}  leaked    revoked  .*`,
      `${provider.id}  okta      revoked  .*`,
      `${bounded.id}  bound .* Team Zoë`,
      `${forever.id}  for ever  active   .*never +- +-\n`
    ].join('\n')))
    for (const text of [table.out, table.err, listed.out]) {
      for (const key of [made.out.trim(), successor.key, forever.key]) t.notMatch(text, key)
    }

    const withSettings = (prefix: string, FASTIFY_USERS_PEPPER = PEPPER) =>
      run(['keys', 'create', '-n', 'x', '--key-prefix', prefix, ...args], { DATABASE_URL: url, FASTIFY_USERS_PEPPER })
    t.match(await withSettings('uk'), { code: 0, err: /^key_/ }, 'no warning')
    t.match(await withSettings('shop'), {
      code: 0,
      out: /^shop_/,
      err: /^Warning: no active key begins with shop_; they begin with uk_, acme_\. .* --key-prefix: /
    })
    t.match(await run(['keys', 'rotate', record.id, ...args], { DATABASE_URL: url }), {
      code: 0, err: /^Warning: the active keys were made with a pepper, and FASTIFY_USERS_PEPPER is not set\. /
    })
    t.match(await withSettings('uk', 'some-other-pepper-of-more-than-32-characters'), {
      code: 0, err: /^Warning: no active key was made with the first pepper of FASTIFY_USERS_PEPPER\. /
    })
  })
}
