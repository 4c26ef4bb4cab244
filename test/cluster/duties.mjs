// The duties of the conformance kit on a server: in one process with transactions and races, and in several.
import knex from 'knex'
import { postgres } from 'fastify-users/adapters/postgres'
import { testStorage, testStorageInProcesses } from 'fastify-users/testing'
import { messageOf } from './server.mjs'

const SEED = 1
/** How many lines of what a duty says are shown: differences of long lists have hundreds. */
const LINES_MAX = 12

/** Runs duties one after the other, and says which fail. */
export async function runDuties (duties, say) {
  let failed = 0
  for (const { name, run } of duties) {
    try {
      await run()
    } catch (error) {
      failed++
      say([`failed: ${name}`, ...messageOf(error).split('\n').slice(0, LINES_MAX)].join('\n    '))
    }
  }
  return { passed: duties.length - failed, failed }
}

/** Every duty of a store, those of transactions among them. */
export function kit ({ connection, newSchema, drop }, { quick }) {
  const duties = []
  testStorage({
    test: (name, run) => duties.push({ name, run }),
    seed: SEED,
    quick,
    report: () => {},
    progress: () => {},
    create () {
      const schema = newSchema()
      const host = knex({ client: 'pg', connection, pool: { min: 0, max: 4 } })
      return {
        storage: postgres({ connection, schema, pool: { max: 8 } }),
        async begin () {
          const transaction = await host.transaction()
          return {
            transaction,
            commit: async () => transaction.commit(),
            rollback: async () => transaction.rollback()
          }
        },
        async destroy () {
          await host.destroy()
          await drop(schema)
        }
      }
    }
  })
  // The last one checks nothing: it prints a report.
  return duties.slice(0, -1)
}

/** The duties that one process can't show. */
export function processes ({ connection, newSchema, drop }, profile) {
  const duties = []
  testStorageInProcesses({
    test: (name, run) => duties.push({ name, run }),
    open: new URL('./opener.mjs', import.meta.url),
    place: () => JSON.stringify({ connection, schema: newSchema(), profile }),
    destroy: (place) => drop(JSON.parse(place).schema)
  })
  return duties
}
