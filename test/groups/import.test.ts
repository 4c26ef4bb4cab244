// Imports name the groups that users join.
import { test } from 'tap'
import { importWords, ndjsonOf } from '../helpers/import-rows.ts'
import { inject, testApp } from '../helpers/app.ts'
import { stores } from '../helpers/stores.ts'

test('a table names groups, with the scope for it', async (t) => {
  const { app } = await testApp(t, { groups: true })
  const editors = await app.users.groups.create({ name: 'Éditors' })
  const law = await app.users.groups.create({ name: 'Law, tax' })
  const callAs = async (...scopes: Array<'users:read' | 'users:write' | 'groups:write'>) => {
    const { key } = await app.users.apiKeys.create({ name: 'import', scopes })
    return (method: string, path: string, given: object = {}) => inject(app, method, `/v1${path}`, {
      ...given, headers: { authorization: `Bearer ${key}`, ...Object(given).headers }
    })
  }
  const table = 'name,email,Team\nAnn,ann@example.org,editors\nBen,ben@example.org,"[""law, tax"",""Editors""]"\n' +
    'Cay,cay@example.org,\nDan,dan@example.org,Law\nEve,eve@example.org,[1]\n'
  const [whole, without] = [await callAs('users:read', 'users:write', 'groups:write'), await callAs('users:write')]
  const refused = await importWords(without, 'map=groups:Team', table, 'text/csv')
  t.strictSame(refused.words, [
    '2 refused insufficient_scope', '3 refused insufficient_scope', '4 created', '5 refused insufficient_scope',
    '6 refused insufficient_scope'
  ])
  const made = await importWords(whole, 'onConflict=update&map=groups:Team', table, 'text/csv')
  t.strictSame(made.words, [
    '2 created', '3 created', '4 skipped', '5 refused /groups/0 unknown', '6 refused /groups/0 type'
  ])
  t.strictSame((await importWords(whole, 'onConflict=update&map=groups:Team', table, 'text/csv')).words?.slice(0, 3),
    ['2 skipped', '3 skipped', '4 skipped'], 'once more changes nothing')
  const emails = async (id: string) => (await app.users.groups.members(id)).data.map(({ email }) => email)
  t.strictSame(await emails(editors.id), ['ann@example.org', 'ben@example.org'])
  t.strictSame(await emails(law.id), ['ben@example.org'])
  t.match(await app.users.groups.get(editors.id), { members: 2, version: 2 }, 'two rows were one change')

  const row = { name: 'Fay', email: 'fay@example.org', groups: Array.from({ length: 101 }, () => 'A') }
  t.strictSame((await importWords(whole, '', ndjsonOf([row, { ...row, groups: [' '] }, { ...row, groups: 7 }]))).words,
    ['1 refused /groups too_many', '2 refused /groups/0 too_short', '3 refused /groups type'])
  const { call: ofNone } = await testApp(t)
  t.strictSame((await importWords(ofNone, '', ndjsonOf([{ ...row, groups: ['A'] }]))).words,
    ['1 refused /groups unknown'], 'without groups there is no such member')
})

test('of a tenant, only its groups', async (t) => {
  const { app } = await testApp(t, { groups: true, tenants: true })
  const group = await app.users.tenant('acme').groups.create({ name: 'A' })
  await app.users.tenant('beta').groups.create({ name: 'B' })
  const words: string[] = []
  await app.users.import(['acme', 'beta'].flatMap((tenant) => ['A', 'B'].map((name) => (
    { name: 'Ann', email: `${name}@example.org`, tenant, groups: [name] }))), {
    onResult: ({ line, status }) => { words.push(`${line} ${status}`) }
  })
  t.strictSame(words, ['1 created', '2 refused', '3 refused', '4 created'])
  t.equal((await app.users.groups.get(group.id)).members, 1)
})

for (const { name, create } of stores) {
  test(`${name}: imports and changes of one group at once lose nobody`, async (t) => {
    const { app: { users } } = await testApp(t, { groups: true, storage: await create(t) })
    const group = await users.groups.create({ name: 'A' })
    const others = await Promise.all(Array.from({ length: 10 }, (_, n) =>
      users.create({ name: 'Ann', email: `other${n}@example.org` })))
    const rows = (file: number) => Array.from({ length: 300 }, (_, n) =>
      ({ name: 'Ann', email: `user${file}-${n}@example.org`, groups: ['a'] }))
    const [first, second] = await Promise.all([
      users.import(rows(1)), users.import(rows(2)),
      ...others.map(({ id }) => users.groups.changeMembers(group.id, { add: [id] }))
    ])
    t.strictSame([first?.created, second?.created], [300, 300])
    t.equal((await users.groups.get(group.id)).members, 610)
    t.equal((await users.list({ group: group.id })).meta.total, 610)
  })
}
