// Foreign keys of the host's that survive the trash: the table of ids of docs/life-of-a-user.md has exactly the users
// who are there or can be restored.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testApp } from '../helpers/app.ts'
import { pgHost } from '../helpers/postgres.ts'
import { runScript, sqliteHost } from '../helpers/sqlite.ts'
import { sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'life-of-a-user.md')

/** The script of the docs for a kind of database. */
async function scriptFor (kind: 'pg' | 'sqlite'): Promise<string> {
  const text = await readFile(PAGE, 'utf8')
  const section = text.slice(text.indexOf('### Foreign keys to users who can come back'))
  return section.split(`\`\`\`sql ${kind}\n`)[1]?.split('```')[0] ?? ''
}

const databases = {
  async sqlite (t: Test) {
    const filename = join(await temporaryDirectory(t), 'shop.db')
    // The pragma is of one connection.
    const knex = sqliteHost(filename, { pool: { min: 1, max: 1 } })
    t.teardown(() => knex.destroy())
    return {
      knex,
      async prepare () {
        await runScript(filename, await scriptFor('sqlite'))
        await knex.raw('PRAGMA foreign_keys = ON')
      }
    }
  },
  async postgres (t: Test) {
    const schema = temporarySchema(t)
    await sql(`CREATE SCHEMA "${schema}"`)
    const knex = pgHost(t, { searchPath: [schema] })
    return { knex, prepare: async () => await knex.raw(await scriptFor('pg')) }
  }
}

for (const [name, open] of Object.entries(databases)) {
  async function mounted (t: Test) {
    const { knex, prepare } = await open(t)
    const { app: { users } } = await testApp(t, {
      storage: knexStorage(knex), trash: true, eventLog: true, tenants: true
    })
    const early = [await users.tenant('a').create({ name: 'A', email: 'a@example.org' })]
    early.push(await users.tenant('a').create({ name: 'B', email: 'b@example.org' }))
    await users.delete(String(early[1]?.id))
    await prepare()
    const idsIn = async (table: string) => await knex(table).orderBy('id').pluck('id')
    const expected = async () =>
      [...await idsIn('fastify_users_users'), ...await idsIn('fastify_users_deleted_users')].sort()
    return { knex, users, early, people: () => idsIn('people'), expected }
  }

  const bought = (knex: Knex, user: string) => knex('orders').where({ user_id: user }).pluck('user_id')

  test(`${name}: rows of the host survive the trash, and go with a purge`, async (t) => {
    const { knex, users, early, people } = await mounted(t)
    t.strictSame(await people(), early.map(({ id }) => id).sort(), 'who was there, and who could be restored')
    const { id } = await users.tenant('a').create({ name: 'C', email: 'c@example.org' })
    await knex('orders').insert({ user_id: id })
    await users.delete(id)
    t.strictSame(await bought(knex, id), [id])
    await users.restore(id)
    t.strictSame(await bought(knex, id), [id])
    await users.delete(id)
    await users.delete(id, { purge: true })
    t.strictSame(await bought(knex, id), [])
    await t.rejects(async () => await knex('orders').insert({ user_id: id }), /FOREIGN KEY|foreign key/)
    t.strictSame(await people(), early.map(({ id }) => id).sort())
  })

  test(`${name}: every way in and out keeps the ids exact, also side by side`, async (t) => {
    const { knex, users, people, expected } = await mounted(t)
    const own = users.tenant('a')
    const made = await own.batch(Array.from({ length: 20 }, (_, n) =>
      ({ op: 'create', body: { name: 'N', email: `n${n}@example.org` } } as const)))
    await own.import(Array.from({ length: 20 }, (_, n) => ({ name: 'I', email: `i${n}@example.org` })))
    const ids = made.data.map(({ user }) => String(user?.id))
    await knex.transaction(async (trx) => {
      await own.using(trx).create({ name: 'T', email: 't@example.org' })
      await own.using(trx).delete(String(ids[0]))
    })
    t.strictSame(await people(), await expected(), 'after a batch, an import and a transaction')

    const ignored = () => {}
    await Promise.all(ids.flatMap((id) => [
      own.delete(id).catch(ignored), own.restore(id).catch(ignored), own.delete(id, { purge: true }).catch(ignored),
      own.delete(id).catch(ignored), own.restore(id).catch(ignored)
    ]))
    t.strictSame(await people(), await expected(), 'after writes side by side')
    await own.batch(ids.map((id) => ({ op: 'purge', id } as const)))
    t.strictSame(await people(), await expected(), 'after a batch of purges')
    await users.tenants.remove('a')
    t.strictSame([await people(), await expected()], [[], []], 'after the tenant was deleted')
  })
}
