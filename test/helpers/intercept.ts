import type { Knex } from 'knex'
import { TextStatement } from '../../adapters/knex/drivers/pg-statement.ts'

type Query = (...args: unknown[]) => Promise<unknown>

/** Called in place of a statement. `send` sends it, or another one. */
export type Step = (statement: string, send: (other?: string) => Promise<unknown>) => Promise<unknown>

/**
 * Comes between a Knex instance on PostgreSQL and its driver, for connections that are lent from now on. Returns a
 * function that ends this.
 */
export function intercept (host: Knex, step: Step): () => void {
  const pool: { acquireConnection: () => Promise<{ query: Query }> } = host.client
  const acquire = pool.acquireConnection.bind(pool)
  pool.acquireConnection = async () => {
    const connection = await acquire()
    const query = connection.query.bind(connection)
    connection.query = (...args) => {
      const [statement] = args
      if (statement instanceof TextStatement) {
        const { callback } = statement
        let answered: Array<Record<string, unknown>> = []
        const sendIt = (): Promise<unknown> => new Promise((resolve, reject) => {
          statement.callback = (error, rows) => {
            answered = Array.isArray(rows) ? rows : rows.rows
            if (error == null) resolve(rows)
            else reject(error)
          }
          query(statement)
        })
        return step(statement.text, (other) => other === undefined ? sendIt() : query(other))
          .then(() => callback(null, answered), (error) => callback(error, []))
      }
      const callback = args.at(-1)
      const asked = typeof callback === 'function' ? args.slice(0, -1) : args
      const send = (other?: string) => other === undefined ? query(...asked) : query(other)
      const answer = step(JSON.stringify(asked), send)
      if (typeof callback === 'function') answer.then((result) => callback(null, result), (error) => callback(error))
      return answer
    }
    return connection
  }
  return () => { pool.acquireConnection = acquire }
}
