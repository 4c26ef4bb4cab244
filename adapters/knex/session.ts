import type { Knex } from 'knex'
import { StorageError } from '../../lib/errors.ts'
import { isStorable } from '../../lib/text.ts'
import { type Dialect, dialectOf, type Param, type Row } from './dialect.ts'
import { isConflict, toStorageError } from './driver-errors.ts'
import type { Names } from './names.ts'

// Where two of ours meet one of them goes through, so a statement that loses this often has met that many others.
const ATTEMPTS = 20

/** Runs one statement. */
export type Run = (sql: string, params?: readonly Param[]) => Promise<Row[]>

/** Statements on a Knex instance's connections. Throws StorageError alone. */
export interface Session {
  readonly dialect: Dialect
  readonly run: Run
  /** Runs the statements of a function in a transaction that no other such transaction overlaps. */
  exclusively<Value> (work: (run: Run) => Promise<Value>): Promise<Value>
}

/** The part of Knex's client that lends connections. */
interface Pool {
  driverName: string
  acquireConnection (): Promise<unknown>
  releaseConnection (connection: unknown): Promise<void>
}

/**
 * Opens a session on a Knex instance. Statements go to the driver on Knex's own connections, past its query builder and its hooks: a host's identifier
 * mappers and response processors stay out of our tables, and finished SQL text costs nothing to build.
 */
export function openSession (knex: Knex, names: Names): Session {
  const pool: Pool = knex.client
  const dialect = dialectOf(pool.driverName)

  async function withConnection<Value> (work: (run: Run) => Promise<Value>): Promise<Value> {
    const connection = await pool.acquireConnection()
    try {
      return await work(async (sql, params = []) => {
        if (!params.every((param) => typeof param !== 'string' || isStorable(param))) throw new StorageError('fault', 'a text can not be stored unchanged')
        return dialect.run(connection, sql, params)
      })
    } finally {
      await pool.releaseConnection(connection)
    }
  }

  /** Each piece of work is atomic, so one that lost against another transaction can simply be done again. */
  async function attempt<Value> (work: (run: Run) => Promise<Value>, left = ATTEMPTS): Promise<Value> {
    try {
      return await withConnection(work)
    } catch (error) {
      if (left > 1 && isConflict(error)) return attempt(work, left - 1)
      throw toStorageError(error, names)
    }
  }

  return {
    dialect,
    run: (sql, params) => attempt((run) => run(sql, params)),
    exclusively: (work) => attempt(async (run) => {
      for (const statement of dialect.begin) await run(statement)
      try {
        const value = await work(run)
        await run('COMMIT')
        return value
      } catch (error) {
        // Where the connection is gone there is nothing to roll back; what went wrong first is what counts.
        await run('ROLLBACK').catch(() => {})
        throw error
      }
    })
  }
}
