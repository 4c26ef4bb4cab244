import { join } from 'node:path'
import { test } from 'tap'
import { UsersError } from '../../lib/core/errors.ts'
import { openSpillFile } from '../../lib/transfer/spill-file.ts'
import { testApp } from '../helpers/app.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

test('what is added and read concurrently comes back as it was', async (t) => {
  const file = await openSpillFile()
  const texts = Array.from({ length: 3000 }, (_, n) => `${n} é `.repeat(1 + n % 40))
  // Far more than is written together, so that texts come while others are being written.
  const stretches = await Promise.all(texts.map((text) => file.add(text)))
  const last = await Promise.all(['the last one', 'the very last one'].map((text) => file.add(text)))
  const read = await Promise.all([...last, ...stretches, ...last].map((stretch) => file.read(stretch)))
  t.strictSame(read, ['the last one', 'the very last one', ...texts, 'the last one', 'the very last one'])
  const back = await Promise.all(texts.map(async (text) => file.read(await file.add(text))))
  t.strictSame(back, texts, 'while others are added')
  await file.close()
})

test('says what to do where no temporary file can be made', async (t) => {
  const { TMPDIR } = process.env
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  })
  process.env['TMPDIR'] = join(await temporaryDirectory(t), 'none')
  const message = 'fastify-users: the temporary file of a dry run cannot be used (ENOENT): ' +
    'set TMPDIR to a writable directory with enough space'
  const { app } = await testApp(t)
  await t.rejects(app.users.import([{ name: 'A', email: 'a@example.org' }], { dryRun: true }),
    { constructor: UsersError, code: 'internal', cause: { message, cause: { code: 'ENOENT' } } })
})
