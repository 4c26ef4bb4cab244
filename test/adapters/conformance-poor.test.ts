// The conformance kit on a PostgreSQL that can do little, once more with every transaction SERIALIZABLE.
import { test } from 'tap'
import { EACH_WAY } from '../helpers/each-kind.ts'
import { type CreateFor, openedForKit, runDuties, runKit, withoutTransactions } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { poorDatabaseUrl, poorSchema, poorStorage } from '../helpers/poor-postgres.ts'
import { recycledSchemas } from '../helpers/recycled.ts'

const RACES = /concurrent|crosswise|while others|loses no write|all writers/

for (const isStrict of [false, true]) {
  test(`postgres that can do little${isStrict ? ', SERIALIZABLE' : ''}`, { skip: from('ci') }, async (t) => {
    const at = (schema: string) => poorStorage(schema, isStrict)
    const opened = async (schema: string) => openedForKit(await at(schema))
    const schemas = recycledSchemas(t, opened, { url: poorDatabaseUrl, newSchema: () => poorSchema(t) })
    // Transactions are tested in conformance-host.test.ts.
    const create: CreateFor = async (isNew) => {
      const schema = await schemas.take(isNew)
      return { storage: withoutTransactions(await at(schema)), destroy: () => schemas.giveBack(schema) }
    }
    if (from('nightly') === false) runKit(t, create, { transactions: false })
    // Its locks, its counting and its numbering are other ones, which concurrent calls show. Only they meet conflicts.
    else runDuties(t, create, (duty) => RACES.test(duty) || (!isStrict && EACH_WAY.includes(duty)))
  })
}
