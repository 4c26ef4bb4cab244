// The example of an adapter for a store of another kind passes the conformance kit of the package.
import { join } from 'node:path'
import { test } from 'tap'
import { testStorage } from 'fastify-users/testing'
import { lmdb } from '../../examples/custom-adapter/index.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

test('the LMDB store passes the conformance kit', async (t) => {
  const lines: string[] = []
  testStorage({
    test: (name, run) => t.test(name, run),
    create: async () => lmdb(join(await temporaryDirectory(t), 'users')),
    seed: 1,
    timeoutMs: 300_000,
    progress: () => {},
    report: (line) => lines.push(line)
  })
  t.test('the report', async (t) => t.match(lines[0], / 0 failed, 0 not reached/))
})
