// The skeleton of an adapter in SQL, from which authors begin, passes the conformance kit of the package.
import { test } from 'tap'
import { testStorage } from 'fastify-users/testing'
import { sqlStore } from '../../examples/sql-adapter/index.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'

test('the SQL skeleton passes the conformance kit', async (t) => {
  const lines: string[] = []
  testStorage({
    test: (name, run) => t.test(name, run),
    async create () {
      const schema = temporarySchema(t)
      await sql(`CREATE SCHEMA ${schema}`)
      const storage = sqlStore({ connectionString: pgUrl(), options: `-c search_path=${schema}` })
      return {
        storage,
        async begin (isolation?: string) {
          const transaction = await storage.begin(isolation === undefined ? '' : `ISOLATION LEVEL ${isolation}`)
          return { transaction, commit: () => transaction.commit(), rollback: () => transaction.rollback() }
        },
        destroy: () => sql(`DROP SCHEMA ${schema} CASCADE`)
      }
    },
    seed: 1,
    timeoutMs: 300_000,
    quick: true,
    progress: () => {},
    report: (line) => lines.push(line)
  })
  t.test('the report', async (t) => t.match(lines[0], / 0 failed, 0 not reached/))
})
