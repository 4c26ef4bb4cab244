// The skeleton of an adapter in SQL, from which authors begin, passes the conformance kit of the package.
import { test } from 'tap'
import { testStorage } from 'fastify-users/testing'
import { sqlStore } from '../../examples/sql-adapter/index.ts'
import { KIT_TIMEOUT_MS } from '../helpers/kit.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'

test('the SQL skeleton passes the conformance kit', async (t) => {
  const lines: string[] = []
  testStorage({
    test: (name, run) => t.test(name, run),
    create: async () => {
      const schema = temporarySchema(t)
      await sql(`CREATE SCHEMA ${schema}`)
      return sqlStore({ connectionString: pgUrl(), options: `-c search_path=${schema}` })
    },
    seed: 1,
    timeoutMs: KIT_TIMEOUT_MS,
    quick: true,
    progress: () => {},
    report: (line) => lines.push(line)
  })
  t.test('the report', async (t) => t.match(lines[0], / 0 failed, 0 not reached; /))
})
