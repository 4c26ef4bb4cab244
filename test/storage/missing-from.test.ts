// What a value lacks to be a storage.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { missingFrom } from '../../lib/storage/storage-rules.ts'

test('a storage has a name, all methods, and all of its parts', async (t) => {
  const storage = memory()
  t.strictSame(missingFrom(storage), [])
  for (const name of [undefined, '', 5]) t.strictSame(missingFrom({ ...storage, name }), ['name'])
  const log = Object.create(storage.log, { prune: { value: 1 } })
  t.strictSame(missingFrom({ ...storage, commit: undefined, users: {}, log }),
    ['commit', 'users.find', 'users.list', 'users.walk', 'log.prune'])
  t.equal(missingFrom(null).length, missingFrom({}).length)
})
