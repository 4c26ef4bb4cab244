// The examples of adapters pass the conformance kit of the package.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { testStorage, type TestStorageOptions } from 'fastify-users/testing'
import { lmdb } from '../../examples/custom-adapter/index.ts'
import { sqlStore } from '../../examples/sql-adapter/index.ts'
import { EACH_KIND, EACH_WAY } from '../helpers/each-kind.ts'
import { from } from '../helpers/level.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

/** Runs the kit as subtests: all of it at night, and before that some duties. */
function conforms (
  t: Test, duties: readonly string[], options: Pick<TestStorageOptions, 'create' | 'quick'>
): void {
  const isWhole = from('nightly') === false
  const lines: string[] = []
  testStorage({
    test: (name, run) => isWhole || duties.includes(name) ? t.test(name, run) : undefined,
    seed: 1,
    timeoutMs: 300_000,
    progress: () => {},
    report: (line) => lines.push(line),
    ...options
  })
  if (isWhole) t.test('the report', async (t) => t.match(lines[0], / 0 failed, 0 not reached/))
}

test('the LMDB store passes the conformance kit', async (t) => {
  conforms(t, EACH_KIND, {
    async create () {
      const path = join(await temporaryDirectory(t), 'users')
      return { storage: lmdb(path), reopen: () => lmdb(path) }
    }
  })
})

// It has no way to add many users quickly, so what needs a thousand of them takes long.
const FEW_USERS = EACH_WAY.filter((duty) => !/^users\.walk: everybody/.test(duty))

test('the SQL skeleton, from which authors begin, passes the conformance kit', async (t) => {
  conforms(t, FEW_USERS, {
    quick: true,
    async create () {
      const schema = temporarySchema(t)
      await sql(`CREATE SCHEMA ${schema}`)
      const reopen = () => sqlStore({ connectionString: pgUrl(), options: `-c search_path=${schema}` })
      const storage = reopen()
      return {
        storage,
        reopen,
        async begin (isolation?: string) {
          const transaction = await storage.begin(isolation === undefined ? '' : `ISOLATION LEVEL ${isolation}`)
          return { transaction, commit: () => transaction.commit(), rollback: () => transaction.rollback() }
        },
        destroy: () => sql(`DROP SCHEMA ${schema} CASCADE`)
      }
    }
  })
})
