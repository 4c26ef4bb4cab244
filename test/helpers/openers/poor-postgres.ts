// Opens a store in the poor database; `place` is the name of its schema.
import { postgres } from '../../../adapters/postgres.ts'
import { poorConnection } from '../poor-postgres.ts'

export default async (schema: string) =>
  postgres({ connection: await poorConnection(), schema, profile: 'portable' })
