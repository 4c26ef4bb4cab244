// docs/backup.md, "Into another schema or database": which tables the recipes copy, and that the SQL brings them back.
import { test } from 'tap'
import { migrationsSql } from '../adapters/knex/index.ts'
import { postgres } from '../adapters/postgres.ts'
import { testApp } from './helpers/app.ts'
import { readPage } from './helpers/docs/pages.ts'
import { pgUrl, sql, temporarySchema } from './helpers/stores.ts'

const { text, blocks } = await readPage('docs/backup.md')
const section = text.slice(text.indexOf('\n## Into another schema'), text.indexOf('\n## After a restore'))
const copies = (pattern: RegExp): string[] => [...section.matchAll(pattern)].map(([, name]) => String(name)).sort()
const COPIED = copies(/^INSERT INTO accounts\.fastify_users_(\w+)/gm)

test('each table is copied by both recipes, made anew, or named among those that stay behind', async (t) => {
  t.strictSame(copies(/-t fastify_users_(\w+)/g), COPIED)
  const [, paragraph = ''] = /(The events \(.*?stay behind)/.exec(section) ?? []
  const left = [...paragraph.matchAll(/`(\w+)`/g)].map(([, name]) => String(name))
  const tables = [...migrationsSql('pg').matchAll(/CREATE TABLE (?:IF NOT EXISTS )?"fastify_users_(\w+)"/g)]
    .map(([, name]) => String(name))
  const isMadeAnew = (name: string): boolean => name === 'migrations' || name.startsWith('counting_')
  t.strictSame([...COPIED, ...left].sort(), tables.filter((name) => !isMadeAnew(name)).sort())
})

test('the SQL copies users, the trash and keys into another schema', async (t) => {
  const [from, to] = [temporarySchema(t), temporarySchema(t)]
  const open = (schema: string) => postgres({ connection: pgUrl(), schema })
  const { app, key } = await testApp(t, { storage: open(from), trash: true })
  const [ann, bob] = await Promise.all(['Ann', 'Bob'].map((name) =>
    app.users.create({ name, email: `${name}@example.org` })))
  await app.users.delete(String(bob?.id))
  const target = open(to)
  await target.open({ migrate: true })
  const recipe = blocks.find((block) => block.text.startsWith('INSERT INTO accounts.'))?.text ?? ''
  await sql(recipe.replaceAll('accounts.', `${to}.`).replaceAll('public.', `${from}.`))
  const copy = await testApp(t, { storage: target, trash: true })
  t.strictSame((await copy.app.users.list()).data, [ann])
  t.equal((await copy.app.users.restore(String(bob?.id))).name, 'Bob')
  t.equal((await copy.app.users.list()).meta.total, 2)
  t.equal((await copy.call('GET', '/users', { headers: { authorization: `Bearer ${key}` } })).statusCode, 200)
  t.match(await target.verifyCounts(), { users: 2, counted: 2, wrong: 0 })
})
