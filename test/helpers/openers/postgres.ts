import { postgres } from '../../../adapters/postgres.ts'

/** The PostgreSQL store at `{ connection, schema }`, as JSON. */
export default (place: string) => {
  const { connection, schema }: { connection: string, schema: string } = JSON.parse(place)
  return postgres({ connection, schema, pool: { max: 4 } })
}
