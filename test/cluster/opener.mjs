import { postgres } from 'fastify-users/adapters/postgres'

/** The store at `{ connection, schema }`, as JSON. */
export default (place) => postgres({ ...JSON.parse(place), pool: { max: 4 } })
