// The longest users that can exist: what an export writes of them, an import reads.
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { linesOf } from '../helpers/import-rows.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const FIELDS_BYTES = 16 * 1024
const NAME = '🦊'.repeat(200)
const addressOf = (n: number): string =>
  `${n}${'a'.repeat(63)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.org`

const fields = withoutType({
  type: 'object',
  properties: {
    bio: { type: 'string' },
    // In a table nearly two of three characters of its cell are quotation marks, which are doubled.
    tags: { type: 'array', items: { type: 'string' } }
  }
})

/** Own fields of exactly as many bytes as a user may have. */
function filledUp (own: { bio: string, tags?: string[] }): object {
  const bytes = Buffer.byteLength(JSON.stringify(own))
  return { ...own, bio: own.bio + 'x'.repeat(FIELDS_BYTES - bytes) }
}
const longest = [
  filledUp({ bio: '"\n'.repeat(4000) }),
  filledUp({ bio: '', tags: Array.from({ length: 5450 }, () => '') })
].map((own, n) => ({ name: NAME, email: addressOf(n), ...own }))

for (const format of ['ndjson', 'csv'] as const) {
  test(`the longest users come back from an export in ${format}`, async (t) => {
    const { app, call } = await testApp(t, { fields: { schema: fields } })
    for (const user of longest) await app.users.create(withoutType(user))
    await t.rejects(app.users.create(withoutType({ ...longest[0], email: 'more@example.org', tags: [] })), {
      errors: [{ code: 'too_large' }]
    })
    const { rawPayload: file } = await call('GET', `/users/export?format=${format}`)
    const users = linesOf((await call('GET', '/users/export')).body)
    t.match(users, longest)
    const created = { created: 2, updated: 0, skipped: 0, refused: 0, dryRun: false }

    const path = join(await temporaryDirectory(t), `users.${format}`)
    await writeFile(path, file)
    const other = await testApp(t, { fields: { schema: fields } })
    t.strictSame(await other.app.users.import(createReadStream(path), { format, dryRun: true }),
      { ...created, dryRun: true })
    t.strictSame(await other.app.users.import(createReadStream(path), { format }), created)
    t.strictSame(linesOf((await other.call('GET', '/users/export')).body), users)
  })
}
