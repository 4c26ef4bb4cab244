// An import through a mount that does not know of a unique field of its storage: another mount has it.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import type { ImportOptions, ImportResult, UserMethods } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { importWords, ndjsonOf, wordsOf } from '../helpers/import-rows.ts'
import { knexHosts } from '../helpers/knex-hosts.ts'
import { stores } from '../helpers/stores.ts'

const fields = Type.Object({ legacyId: Type.Optional(Type.Integer()), badge: Type.Optional(Type.String()) })
const elsewhere = { unique: ['legacyId'] }

const user = (name: string, legacyId: number, more: object = {}) =>
  ({ name, email: `${name.toLowerCase()}@example.org`, legacyId, ...more })

async function wordsOfImport (users: UserMethods, rows: object[], options: ImportOptions = {}): Promise<string[]> {
  const words: string[] = []
  await users.import(rows, { ...options, onResult: (result: ImportResult) => { words.push(wordsOf({ ...result })) } })
  return words
}

for (const { name, create } of stores) {
  test(`${name}: a line with a value that an unknown index keeps unique is refused alone`, async (t) => {
    const storage = await create(t)
    await storage.open({ migrate: true, ...elsewhere })
    const { app, call } = await testApp(t, { storage, fields: { schema: fields, unique: ['badge'] } })
    await app.users.create(withoutType(user('Ann', 7)))
    const rows = [user('Bob', 8), user('Cid', 7), user('Dan', 9)]
    const { lines = [], words, summary } = await importWords(call, '', ndjsonOf(rows))
    t.strictSame(words, ['1 created', '2 refused /legacyId taken', '3 created'])
    t.match(lines[1], { problem: { status: 409, code: 'field_taken' } })
    t.strictSame(summary, { created: 2, updated: 0, skipped: 0, refused: 1, dryRun: false })

    t.strictSame(await wordsOfImport(app.users, rows, { onConflict: 'skip' }),
      ['skipped', 'refused /legacyId taken', 'skipped'], 'the address of a user who is there comes first')
    const changed = [user('Bob', 7, { name: 'Bo' }), user('Dan', 9, { name: 'Danny' }), user('Eve', 7)]
    t.strictSame(await wordsOfImport(app.users, changed, { onConflict: 'update' }),
      ['refused /legacyId taken', 'updated', 'refused /legacyId taken'])
    t.strictSame((await app.users.list()).data.map((each) => [each.name, Object(each).legacyId]),
      [['Ann', 7], ['Bob', 8], ['Danny', 9]])
  })
}

test('failFast ends an import at the batch in which an unknown index refuses a line', async (t) => {
  const storage = memory()
  await storage.open({ migrate: true, ...elsewhere })
  const { app } = await testApp(t, { storage, fields: { schema: fields } })
  await app.users.create(withoutType(user('Ann', 7)))
  const many = Array.from({ length: 300 }, (_, n) => user(`U${n}`, 100 + n))
  const words = await wordsOfImport(app.users, [user('Bob', 7), ...many], { failFast: true })
  t.strictSame(words, ['refused /legacyId taken', ...Array.from({ length: 255 }, () => 'created')])
})

for (const { driver, skip, connect } of knexHosts) {
  test(`an import in a transaction goes on after a value that an unknown index refuses on ${driver}`, { skip },
    async (t) => {
      const host = await connect(t)
      t.teardown(() => host.destroy())
      const storage = knexStorage(host)
      await storage.open({ migrate: true, ...elsewhere })
      const { app } = await testApp(t, { storage, fields: { schema: fields } })
      await app.users.create(withoutType(user('Ann', 7)))
      await host.transaction(async (trx) => {
        t.strictSame(await wordsOfImport(app.users.using(trx), [user('Bob', 7), user('Cid', 8)]),
          ['refused /legacyId taken', 'created'])
      })
      t.strictSame((await app.users.list()).data.map((each) => each.name), ['Ann', 'Cid'])
    })
}
