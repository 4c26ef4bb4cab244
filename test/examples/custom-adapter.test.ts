// The example of an adapter for another kind of store: right by the kit, and good enough for the service.
import { join } from 'node:path'
import { test } from 'tap'
import { testStorage } from 'fastify-users/testing'
import { lmdb } from '../../examples/custom-adapter/index.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

test('the LMDB store passes the conformance kit', async (t) => {
  const lines: string[] = []
  testStorage({ test: (name, run) => t.test(name, run), create: async () => lmdb(join(await temporaryDirectory(t), 'users')), report: (line) => lines.push(line) })
  t.test('what it reported', async (t) => t.strictSame(lines, ['fastify-users/testing: lmdb: 80 duties passed, 0 failed; the store declares unsupported: transactions (6 duties)']))
})
