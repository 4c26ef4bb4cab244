// app.users.apiKeys: API keys in process, with the rules and errors of the routes.
import { test, type Test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { stores } from '../helpers/stores.ts'
import { untyped } from '../helpers/untyped.ts'

const UNKNOWN_KEY = 'key_01h455vb4pex5vsknk084sn02q'
const DAY_MS = 24 * 3600 * 1000
const NOT_DATE_TIMES = [
  'tomorrow', '2999-01-01', '2999-13-01T00:00:00Z', '2999-02-30T00:00:00Z', '2999-00-10T00:00:00Z',
  '2999-01-01T24:00:00Z', '2999-01-01T00:00:00', ''
]

/** How long a key lives after it, or another, was created, in milliseconds. */
function lifetime ({ expiresAt }: { expiresAt?: string }, { createdAt }: { createdAt: string }): number {
  return Date.parse(expiresAt ?? '') - Date.parse(createdAt)
}

for (const store of stores) {
  const on = async (t: Test) => {
    const { app } = await testApp(t, { storage: await store.create(t) })
    return app.users.apiKeys
  }

  test(`creates a key whose text is shown once, on ${store.name}`, async (t) => {
    const apiKeys = await on(t)
    const made = await apiKeys.create({ name: ' Deploy ' })
    const { key, ...record } = made
    t.match(made, {
      id: /^key_/,
      name: 'Deploy',
      scopes: ['users:read', 'users:write', 'users:delete'],
      start: /^uk_[0-9A-Za-z]{12}$/,
      key: /^uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/
    })
    t.ok(key.startsWith(made.start))
    t.strictSame(await apiKeys.get(made.id), record)
    t.notMatch(JSON.stringify(await apiKeys.list()), key.slice(16))
  })

  test(`creates keys that live for a year, for as long as asked, or for ever, on ${store.name}`, async (t) => {
    const apiKeys = await on(t)
    const year = await apiKeys.create({ name: 'year' })
    t.equal(lifetime(year, year), 365 * DAY_MS)
    t.equal('expiresAt' in await apiKeys.create({ name: 'ever', expiresAt: null }), false)
    const then = await apiKeys.create({ name: 'then', expiresAt: '2999-01-01T01:00:00+01:00' })
    t.equal(then.expiresAt, '2999-01-01T00:00:00.000Z')
    const short = await apiKeys.create({ name: 'short', scopes: ['keys:read', 'keys:read'], expiresIn: 90 })
    t.strictSame(short.scopes, ['keys:read'])
    t.equal(lifetime(short, short), 90_000)
  })

  test(`names every fault of a key, on ${store.name}`, async (t) => {
    const apiKeys = await on(t)
    const faults = async (input: object): Promise<string[]> => {
      try {
        await apiKeys.create(untyped(input))
        return []
      } catch (error) {
        const { errors }: { errors: Array<{ pointer: string; code: string }> } = Object(error)
        return errors.map(({ pointer, code }) => `${pointer} ${code}`)
      }
    }
    t.strictSame(await faults({}), ['/name required'])
    t.strictSame(await faults({ name: 5, scopes: 'x', expiresIn: '1', expiresAt: 5, other: 1 }), [
      '/other unknown',
      '/name type',
      '/scopes type',
      '/expiresAt invalid',
      '/expiresIn type'
    ])
    t.strictSame(await faults({ name: ' ', scopes: ['users:read', 'admin'], expiresIn: 0 }), [
      '/name too_short',
      '/scopes/1 choice',
      '/expiresIn range'
    ])
    t.strictSame(await faults({ name: 'x', scopes: [], expiresAt: '2000-01-01T00:00:00Z' }), [
      '/scopes too_short',
      '/expiresAt past'
    ])
    for (const expiresAt of NOT_DATE_TIMES) {
      t.strictSame(await faults({ name: 'x', expiresAt }), ['/expiresAt format'], expiresAt)
    }
    for (const expiresIn of [1.5, -1, 1e15]) {
      t.strictSame(await faults({ name: 'x', expiresIn }), ['/expiresIn range'], String(expiresIn))
    }
    const most = Math.floor((Date.UTC(10000, 0) - 1 - Date.now()) / 1000)
    await t.rejects(apiKeys.create({ name: 'x', expiresIn: most + 1 }), {
      errors: [{ pointer: '/expiresIn', detail: /^must be a whole number of seconds from 1 to 25\d{10}$/ }]
    })
    t.strictSame(await faults({ name: 'x', expiresAt: null, expiresIn: 5 }), ['/expiresIn exclusive'])
    t.equal((await apiKeys.list()).meta.total, 1, 'the key of the test alone')
  })

  test(`lists and finds keys, and refuses the queries that HTTP refuses, on ${store.name}`, async (t) => {
    const apiKeys = await on(t)
    for (const name of ['one', 'two', 'three', 'four']) await apiKeys.create({ name })
    t.strictSame((await apiKeys.list({ page: 2, limit: 2 })).meta, { page: 2, limit: 2, total: 5 })
    await t.rejects(apiKeys.list({ limit: 0 }), { code: 'validation_failed' })
    await t.rejects(apiKeys.list(untyped({ sort: 'name', word: 'ab' })), {
      errors: [
        { parameter: 'word', code: 'unknown' },
        { parameter: 'sort', code: 'choice' }
      ]
    })
    const all = (await apiKeys.list()).data
    t.strictSame(await apiKeys.list({ sort: '-createdAt', after: all[2]?.id ?? '', limit: 1 }), {
      data: [all[1]],
      meta: { limit: 1, total: 5 }
    })
    t.equal((await apiKeys.list(untyped({}))).meta.page, 1)
    await t.rejects(apiKeys.get(UNKNOWN_KEY), { code: 'api_key_not_found', statusCode: 404 })
    await t.rejects(apiKeys.get('x'), { code: 'api_key_not_found' })
  })

  test(`a rotated key ends after the overlap, and its successor lives as long, on ${store.name}`, async (t) => {
    const apiKeys = await on(t)
    const short = await apiKeys.create({ name: 'short', scopes: ['keys:read'], expiresIn: 90 })
    const next = await apiKeys.rotate(short.id, { overlap: 60 })
    t.match(next, { name: 'short', scopes: ['keys:read'], rotatedFrom: short.id, key: /^uk_/ })
    t.equal(lifetime(next, next), 90_000)
    t.ok(lifetime(await apiKeys.get(short.id), next) <= 60_000)

    const ever = await apiKeys.create({ name: 'ever', expiresAt: null })
    const successor = await apiKeys.rotate(ever.id)
    t.equal('expiresAt' in successor, false)
    t.equal(lifetime(await apiKeys.get(ever.id), successor), DAY_MS, 'a day of overlap by default')
    const again = await apiKeys.rotate((await apiKeys.rotate(successor.id, { overlap: 60 })).id, { overlap: 60 })
    t.equal('expiresAt' in again, false, 'the successor does not inherit a lifetime that a rotation shortened')

    const year = await apiKeys.create({ name: 'year' })
    await apiKeys.rotate(year.id, { overlap: 60 })
    const second = await apiKeys.rotate(year.id, { overlap: 60 })
    t.equal(lifetime(second, second), 365 * DAY_MS)
    const last = await apiKeys.create({ name: 'last', expiresAt: '9999-12-31T23:59:59.999Z' })
    t.equal((await apiKeys.rotate(last.id)).expiresAt, '9999-12-31T23:59:59.999Z')
  })

  test(`refuses a rotation with invalid options, or of an unknown key, on ${store.name}`, async (t) => {
    const apiKeys = await on(t)
    const made = await apiKeys.create({ name: 'x' })
    for (const overlap of [-1, 1.5, 604_801]) {
      const error = { code: 'validation_failed', errors: [{ pointer: '/overlap', code: 'range' }] }
      await t.rejects(apiKeys.rotate(made.id, { overlap }), error)
    }
    await t.rejects(apiKeys.rotate(made.id, untyped({ overlap: 'x', y: 1 })), {
      errors: [{ pointer: '/y' }, { pointer: '/overlap', code: 'type' }]
    })
    await t.rejects(apiKeys.rotate(UNKNOWN_KEY), { code: 'api_key_not_found' })
    const { key, ...record } = made
    t.strictSame(await apiKeys.get(made.id), record)
  })

  test(`revokes a key once, and does not rotate a revoked one, on ${store.name}`, async (t) => {
    const apiKeys = await on(t)
    const { id } = await apiKeys.create({ name: 'x' })
    const revoked = await apiKeys.revoke(id)
    t.match(revoked, { id, revokedAt: /Z$/ })
    t.strictSame(await apiKeys.revoke(id), revoked, 'revoking again changes nothing')
    await t.rejects(apiKeys.rotate(id), { code: 'api_key_inactive', statusCode: 409 })
    await t.rejects(apiKeys.revoke(UNKNOWN_KEY), { code: 'api_key_not_found' })
    await t.rejects(apiKeys.revoke('x'), { code: 'api_key_not_found' })
  })
}
