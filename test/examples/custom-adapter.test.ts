// The example of an adapter for a store of another kind passes the conformance kit of the package.
import { join } from 'node:path'
import { test } from 'tap'
import { testStorage } from 'fastify-users/testing'
import { openDatabase } from '../../examples/custom-adapter/database.ts'
import { lmdb } from '../../examples/custom-adapter/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { KIT_TIMEOUT_MS, passedReport } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { timeOf, userOf } from '../helpers/records.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { addUser } from '../helpers/writes.ts'

test('the LMDB store passes the conformance kit', async (t) => {
  const lines: string[] = []
  testStorage({
    test: (name, run) => t.test(name, run),
    create: async () => lmdb(join(await temporaryDirectory(t), 'users')),
    seed: 1,
    timeoutMs: KIT_TIMEOUT_MS,
    interleavings: from('nightly') === false ? 'all' : 'few',
    report: (line) => lines.push(line)
  })
  t.test('the report', async (t) => {
    t.match(lines[0], passedReport('lmdb', { transactions: false, webhooks: false }))
  })
})

test('a user of the LMDB store forgets the batches whose keys have expired', async (t) => {
  const path = join(await temporaryDirectory(t), 'users')
  const storage = lmdb(path)
  const user = userOf(1)
  await addUser(storage, user)
  for (const n of [1, 2, 3]) {
    const idempotency = { key: `key ${n}`, fingerprint: 'f', now: timeOf(n), expiresAt: timeOf(n + 1), note: null }
    const changes = { name: { value: `Name ${n}`, key: `name ${n}` } }
    const guard = { ifVersion: null, unlessVersion: [] }
    await repositoryOf(storage).users.write(
      [{ type: 'update', id: user.id, changes, updatedAt: timeOf(n), guard, event: null }],
      { atomic: false, idempotency }
    )
    await repositoryOf(storage).prune(timeOf(n))
  }
  await storage.close()
  const database = openDatabase(path)
  t.teardown(() => database.close())
  t.strictSame(database.users.get(user.id)?.requests, ['key 2', 'key 3'], 'key 2 was still kept at the last batch')
})
