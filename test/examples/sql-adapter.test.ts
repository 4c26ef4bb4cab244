// The skeleton of an adapter in SQL, from which authors begin, passes the conformance kit of the package.
import { test } from 'tap'
import { testStorage } from 'fastify-users/testing'
import { sqlStore } from '../../examples/sql-adapter/index.ts'
import { isAboutTables, KIT_TIMEOUT_MS } from '../helpers/kit.ts'
import { recycledSchemas } from '../helpers/recycled.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'

test('the SQL skeleton passes the conformance kit', async (t) => {
  const lines: string[] = []
  const at = (schema: string) => sqlStore({ connectionString: pgUrl(), options: `-c search_path=${schema}` })
  const newSchema = async () => {
    const schema = temporarySchema(t)
    await sql(`CREATE SCHEMA ${schema}`)
    return schema
  }
  let isNew = false
  const schemas = recycledSchemas(t, at, { url: pgUrl, newSchema })
  testStorage({
    test: (name, run) => t.test(name, async () => {
      isNew = isAboutTables(name)
      await run()
    }),
    create: async () => {
      const schema = await schemas.take(isNew)
      return { storage: at(schema), destroy: () => schemas.giveBack(schema) }
    },
    seed: 1,
    timeoutMs: KIT_TIMEOUT_MS,
    quick: true,
    progress: () => {},
    report: (line) => lines.push(line)
  })
  t.test('the report', async (t) => t.match(lines[0], / 0 failed, 0 not reached; /))
})
