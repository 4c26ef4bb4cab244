// Databases of PostgreSQL that can't keep every text are refused before anything is stored.
import { randomBytes } from 'node:crypto'
import { type Test, test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { run } from '../helpers/cli.ts'
import { testApp } from '../helpers/app.ts'
import { pgUrl, sql } from '../helpers/stores.ts'

/** A new database with an encoding; returns its URL. */
async function databaseIn (t: Test, encoding: string): Promise<string> {
  const name = `encoding_${randomBytes(6).toString('hex')}`
  await sql(`CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
  t.teardown(() => sql(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(pgUrl())
  url.pathname = name
  return url.href
}

for (const encoding of ['LATIN1', 'SQL_ASCII', 'WIN1252', 'EUC_JP']) {
  test(`a database in ${encoding} is refused, and the message says what to do`, async (t) => {
    const connection = await databaseIn(t, encoding)
    const message = `the database has the encoding ${encoding}, which can not keep every name: use one with UTF8, as ` +
      "CREATE DATABASE users ENCODING 'UTF8' TEMPLATE template0 makes it"
    const refusal = { name: 'StorageError', code: 'fault', message }
    const storage = postgres({ connection })
    t.teardown(() => storage.close())
    await t.rejects(storage.open({ migrate: true }), refusal)
    await t.rejects(storage.open(), refusal)
    await t.rejects(storage.open(), refusal, 'however often it is asked')
    await t.rejects(testApp(t, { storage: postgres({ connection }) }), refusal)
    t.strictSame(await run(['migrate'], { DATABASE_URL: connection }), { code: 1, out: '', err: `${message}\n` })
  })
}

test('a database in UTF8 is right, as often as it is asked', async (t) => {
  const storage = postgres({ connection: await databaseIn(t, 'UTF8') })
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
  await storage.open()
})
