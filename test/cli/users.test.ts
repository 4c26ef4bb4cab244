// fastify-users users, beside a server on the same database.
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import type { UsersOptions } from '../../lib/index.ts'
import { databases, serverOn } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const plan = { type: 'object', properties: { plan: { type: 'string', enum: ['free', 'team'] } } } as const

for (const { name, skip, create } of databases) {
  /** A server, and the function that runs a command of users. */
  async function served (t: Test, options: Partial<UsersOptions> = {}) {
    const database = await create(t)
    await database.cli('migrate')
    const app = await serverOn(t, database, options)
    const cli = (...words: string[]) => database.cli('users', ...words)
    const json = async (...words: string[]) => JSON.parse((await cli(...words, '--json')).out)
    return { app, cli, json }
  }

  test(`${name}: suspends a user with a reason, and activates it`, { skip }, async (t) => {
    const { app, cli, json } = await served(t, { eventLog: true })
    const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    t.strictSame(await cli('suspend', id, '--reason', 'unpaid'), { code: 0, out: `${id} is suspended.\n`, err: '' })
    t.match(await app.users.get(id), { status: 'suspended', statusReason: 'unpaid', version: 2 })
    t.match(await json('suspend', id), { id, status: 'suspended', statusReason: null, version: 3 })
    t.match(await cli('activate', id), { code: 0, out: `${id} is active.\n` })
    t.match(await app.users.get(id), { status: 'active', statusReason: null, version: 4 })
    const { data } = await app.users.events.ofUser(id)
    t.strictSame(data.map(({ type }) => type), ['user.activated', 'user.updated', 'user.suspended', 'user.created'])
    t.match(await cli('suspend', id, '--reason', 'x'.repeat(201)), { code: 2, err: /^--reason must/ })
    t.strictSame(await cli('suspend', newId('usr')), { code: 1, out: '', err: 'There is no user with this id.\n' })
  })

  test(`${name}: lists whom words find, and what it writes is found by the searched fields`, { skip }, async (t) => {
    const { app, cli, json } = await served(t, {
      eventLog: true, migrate: true, fields: { schema: plan, searchable: ['plan'] }
    })
    const ann = await app.users.create(Object({ name: 'Ann Lee', email: 'ann@example.org', plan: 'team' }))
    await app.users.create({ name: 'Bob', email: 'bob@example.org' })
    t.match((await cli('list', 'lee', 'an')).out, new RegExp(`^ID .*\n${ann.id}  Ann Lee  .*\n1 of 1 user\n$`))
    t.match((await cli('list', '--sort', '-name', '--limit', '1')).out, /Bob[^]*\n1 of 2 users\n$/)
    t.strictSame(await cli('list', 'zed'), { code: 0, out: '0 of 0 users\n', err: '' })
    t.match(await cli('list', '--sort', 'age'), { code: 2, err: /^--sort must/ })
    t.match(await json('list', 'team'), { data: [{ id: ann.id, plan: 'team' }], total: 1 })

    await app.users.update(ann.id, Object({ plan: 'free' }))
    const { data: [changed] } = await app.users.events.ofUser(ann.id)
    t.match(await cli('revert', ann.id, String(changed?.id)), { code: 0 })
    t.equal((await app.users.list({ q: 'team' })).meta.total, 1)
    t.equal((await app.users.list({ q: 'free' })).meta.total, 0)
  })

  test(`${name}: deletes, lists, restores and purges a user`, { skip }, async (t) => {
    const { app, cli, json } = await served(t, { eventLog: true, trash: true })
    const { id, ...ann } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    t.strictSame(await cli('deleted'), { code: 0, out: '0 deleted users\n', err: '' })
    t.strictSame(await cli('delete', id),
      { code: 0, out: `${id} is deleted, and can be restored until the purge.\n`, err: '' })
    t.match(await cli('delete', id), { code: 1 })
    t.match((await cli('deleted')).out,
      new RegExp(`^\\d{4}-.*Z {2}${id} {2}- {2}Ann <ann@example\\.org>\n1 deleted user\n$`))
    t.strictSame(await json('deleted'), (await app.users.listDeleted()).data[0])

    const other = await app.users.create({ name: 'Other', email: 'ann@example.org' })
    t.match(await cli('restore', id), { code: 1, err: /^email must be unique/ })
    t.match(await cli('purge', other.id), { code: 1, err: /could not be restored any more: confirm with --yes/ })
    t.strictSame(await cli('purge', other.id, '--yes'), { code: 0, out: `${other.id} is purged.\n`, err: '' })
    t.match(await json('restore', id), { id, name: ann.name, version: 2 })
    t.match(await cli('restore', id), { code: 1, err: /There is no user/ })

    await cli('delete', id)
    t.match(await cli('purge', id, '--erase', '--yes'), {
      code: 0, out: /is purged, and the user’s values are erased/
    })
    t.strictSame(await cli('deleted'), { code: 0, out: '0 deleted users\n', err: '' })
    const { data } = await app.users.events.ofUser(id)
    t.strictSame(data.map(({ type, data }) => [type, Object(data).name]),
      ['user.purged', 'user.deleted', 'user.restored', 'user.deleted', 'user.created'].map((type) => [type, null]))
  })

  test(`${name}: purges what was deleted long ago, and reverts nothing without events`, { skip }, async (t) => {
    const { app, cli, json } = await served(t)
    const ids = [await app.users.create({ name: 'Ann', email: 'ann@example.org' }),
      await app.users.create({ name: 'Bob', email: 'bob@example.org' })].map(({ id }) => id)
    for (const id of ids) await cli('delete', id)
    t.match(await cli('purge', '--older-than', '1h'), { code: 1, err: /--yes/ })
    t.match(await cli('purge', '--older-than', '1h', '--yes'), { code: 0, out: '0 users are purged.\n' })
    t.match(await cli('purge', '--older-than', '0', '--tenant', 'acme', '--yes'),
      { code: 2, err: /leave --tenant out/ })
    t.match(await cli('purge', '--older-than', '0', '--erase', '--yes'), { code: 2, err: /--erase needs an id/ })
    t.match(await cli('purge', '--yes'), { code: 2, err: /give an id, or --older-than/ })
    t.match(await cli('purge', String(ids[0]), '--older-than', '0', '--yes'), { code: 2, err: /give an id/ })
    t.strictSame(await json('purge', '--older-than', '0', '--yes'), { users: 2 })
    t.strictSame(await cli('deleted'), { code: 0, out: '0 deleted users\n', err: '' })
    const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    t.match(await cli('revert', id, newId('evt')), { code: 1, err: /no server records events in this database/ })
    t.match(await cli('purge', id, '--erase', '--yes'), { code: 0 }, 'no events are there to be erased')
  })

  test(`${name}: reverts a change, unless the user was changed since`, { skip }, async (t) => {
    const { app, cli, json } = await served(t, { eventLog: true, fields: { schema: plan } })
    const file = async (schema: object): Promise<string> => {
      const path = join(await temporaryDirectory(t), 'fields.json')
      await writeFile(path, JSON.stringify(schema))
      return path
    }
    const { id } = await app.users.create(Object({ name: 'Ann', email: 'ann@example.org', plan: 'free' }))
    await app.users.update(id, Object({ name: 'Anna', plan: 'team' }))
    const [change, creation] = (await app.users.events.ofUser(id)).data.map((event) => event.id)
    t.match(await cli('revert', id, String(creation)), { code: 2, err: /^<event> must be an event that changed/ })
    const narrow = await file({ type: 'object', properties: { plan: { type: 'string', enum: ['team'] } } })
    t.match(await cli('revert', id, String(change), '--fields', narrow), {
      code: 2, err: /fields in the event that are no longer valid/
    })
    t.match(await json('revert', id, String(change), '--fields', await file(plan)),
      { id, name: 'Ann', plan: 'free', version: 3 })
    t.match(await cli('revert', id, String(change)),
      {
        code: 1,
        out: '',
        err: ['name', 'plan'].map((name) => `${name} no longer has the value that the event gave it\n`).join('')
      })
  })

  test(`${name}: writes all that is stored of a person`, { skip }, async (t) => {
    const { app, cli, json } = await served(t, { eventLog: true, fields: { schema: plan } })
    const { id } = await app.users.create(Object({ name: 'Ann', email: 'ann@example.org', plan: 'free' }))
    const subject = await app.users.subject(id)
    t.strictSame(await json('subject', id), subject)
    const path = join(await temporaryDirectory(t), 'ann.json')
    t.strictSame(await cli('subject', id, '-o', path), { code: 0, out: '', err: '' })
    t.strictSame(JSON.parse(await readFile(path, 'utf8')), subject)
    t.equal((await stat(path)).mode & 0o777, 0o600)
    t.match(await cli('subject', id, '-o', '/dev/null'), { code: 2, err: /--output must be a regular file/ })
    t.match(await cli('subject', newId('usr')), { code: 1, err: /There is no user/ })
  })

  test(`${name}: sees the users of one tenant alone`, { skip }, async (t) => {
    const { app, cli } = await served(t, { tenants: true, eventLog: true, trash: true })
    const { id } = await app.users.tenant('acme').create({ name: 'Ann', email: 'ann@example.org' })
    for (const word of ['suspend', 'delete', 'subject']) {
      t.match(await cli(word, id, '--tenant', 'beta'), { code: 1, err: /There is no user/ })
    }
    t.match(await cli('delete', id, '--tenant', 'acme'), { code: 0 })
    t.strictSame(await cli('deleted', '--tenant', 'beta'), { code: 0, out: '0 deleted users\n', err: '' })
    t.match(await cli('deleted', '--tenant', 'acme'), { code: 0, out: new RegExp(id) })
    t.match(await cli('restore', id, '--tenant', 'beta'), { code: 1 })
    t.match(await cli('restore', id, '--tenant', 'acme'), { code: 0 })
  })
}
