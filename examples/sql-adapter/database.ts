import { createHash } from 'node:crypto'
import pg from 'pg'
import { StorageError } from 'fastify-users/storage'

export type Values = readonly unknown[]
export type Row = Record<string, unknown>
/** Runs a statement, whose values are `?`: its rows, and how many rows it has changed. */
export type Query = (sql: string, values?: Values) => Promise<{ rows: Row[], count: number }>

/** How a store reaches the database: by its pool, or inside a transaction of the host's. */
export interface Access {
  /** A text that can't be stored is NULL in what reads, which equals nothing. */
  read<Result> (work: (query: Query) => Promise<Result>): Promise<Result>
  /** One transaction, with the row of `state` locked: nothing comes between what `work` reads and writes. */
  write<Result> (work: (query: Query) => Promise<Result>): Promise<Result>
}

/** PostgreSQL stores neither NUL nor a lone surrogate. */
const isText = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))

/** A text of any length and kind as a key: a digest of one that an index or the database can't have. */
export const keyOf = (text: string): string =>
  text.length < 300 && isText(text) ? text : createHash('sha256').update(JSON.stringify(text)).digest('base64url')

const CONFLICTS = ['40001', '40P01']
const NO_TABLE = '42P01'
export const isConflict = (error: unknown): boolean => CONFLICTS.includes(Object(error).driverCode)
export const isNoTable = (error: unknown): boolean => Object(error).driverCode === NO_TABLE

/** What the database says of a unique or foreign key; null: nothing of these. */
export class Violation extends Error {
  readonly constraint: string

  constructor (constraint: string) {
    super('a constraint refuses the row')
    this.constraint = constraint
  }
}

/** What a driver throws, without its text, which may hold values. Other databases have other codes. */
function translated (error: unknown): unknown {
  const { code, constraint } = Object(error)
  if (error instanceof StorageError || error instanceof TypeError || error instanceof Violation) return error
  if (code === '23505' || code === '23503') return new Violation(constraint)
  // Class 08, 53 and 57: the server can't be reached, or is full. No SQLSTATE: the driver itself has failed.
  const isFault = /^(?!08|53|57)[0-9A-Z]{5}$/.test(code) && !CONFLICTS.includes(code) && !/^E[A-Z]/.test(code)
  return isFault
    ? new StorageError('fault', 'the database refused a statement', { driverCode: code })
    : new StorageError('unavailable', 'the database does not answer, or had to give up', { driverCode: code })
}

type Runner = Pick<pg.ClientBase, 'query'>

function queryOn (runner: Runner, stored: (value: unknown) => unknown): Query {
  return async (sql, values = []) => {
    let n = 0
    const text = sql.replaceAll('?', () => `$${++n}`)
    try {
      // Without values, several statements may be one text.
      const { rows, rowCount } = await (n === 0 ? runner.query<Row>(text) : runner.query<Row>(text, values.map(stored)))
      return { rows, count: rowCount ?? 0 }
    } catch (error) {
      throw translated(error)
    }
  }
}

export const reading = (runner: Runner): Query => queryOn(runner, (value) => isText(value) ? value : null)
export const writing = (runner: Runner): Query => queryOn(runner, (value) => {
  if (!isText(value)) throw new StorageError('fault', 'a text cannot be stored')
  return value
})

/** Locks what all writers lock first, so that they come one after the other and never wait for each other crosswise. */
const LOCK = 'SELECT position FROM state FOR UPDATE'

/** A transaction that a host begins. Your driver or mapper has its own: it must tell when it has ended, and how. */
export class HostTransaction implements Access {
  readonly #client: pg.PoolClient
  readonly #callbacks: Array<() => void> = []
  #last: Promise<unknown> = Promise.resolve()
  #isOpen = true

  private constructor (client: pg.PoolClient) {
    this.#client = client
  }

  /** `mode`: such as `ISOLATION LEVEL SERIALIZABLE`. */
  static async begin (pool: pg.Pool, mode = ''): Promise<HostTransaction> {
    const client = await pool.connect()
    await client.query(`BEGIN ${mode}`)
    return new HostTransaction(client)
  }

  get isOpen (): boolean {
    return this.#isOpen
  }

  /** For the host's own statements. */
  query (sql: string, values: unknown[] = []): Promise<{ rows: Row[] }> {
    return this.#inTurn(() => this.#client.query<Row>(sql, values))
  }

  read<Result> (work: (query: Query) => Promise<Result>): Promise<Result> {
    return this.#inTurn(() => work(reading(this.#client)))
  }

  write<Result> (work: (query: Query) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      const query = writing(this.#client)
      await query(LOCK)
      return work(query)
    })
  }

  afterCommit (callback: () => void): void {
    this.#callbacks.push(callback)
  }

  async commit (): Promise<void> {
    const { command } = await this.#end('COMMIT')
    if (command !== 'COMMIT') throw new Error('the transaction had failed, and is rolled back')
    for (const callback of this.#callbacks) callback()
  }

  async rollback (): Promise<void> {
    await this.#end('ROLLBACK')
  }

  #end (how: string): Promise<pg.QueryResult> {
    return this.#inTurn(() => {
      this.#isOpen = false
      return this.#client.query(how).finally(() => this.#client.release())
    })
  }

  /** Work with savepoints can't overlap. */
  #inTurn<Result> (work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => {
      if (!this.#isOpen) throw new StorageError('fault', 'the transaction has ended')
      return work()
    })
    this.#last = result.catch(() => {})
    return result
  }
}

/** The connections of a store. */
export function openDatabase (config: pg.PoolConfig) {
  const pool = new pg.Pool(config)
  const others = new Set<pg.Client>()
  // Lost while idle: the pool opens another one.
  pool.on('error', () => {})
  let closed: Promise<void> | undefined

  async function transaction<Result> (work: (query: Query) => Promise<Result>): Promise<Result> {
    const client = await pool.connect().catch((error: unknown) => { throw translated(error) })
    const query = writing(client)
    try {
      await query('BEGIN')
      const result = await work(query)
      await query('COMMIT')
      client.release()
      return result
    } catch (error) {
      await query('ROLLBACK').then(() => client.release(), () => client.release(true))
      throw error
    }
  }

  return {
    pool,
    transaction,
    read: (work) => work(reading(pool)),
    write: (work) => transaction(async (query) => {
      await query(LOCK)
      return work(query)
    }),
    /** Reads one snapshot on a connection of its own, since it may take long. */
    async snapshot (work: (query: Query) => Promise<void>): Promise<void> {
      if (closed !== undefined) throw new StorageError('unavailable', 'the store is closed')
      const client = new pg.Client(config)
      client.on('error', () => {})
      others.add(client)
      const query = reading(client)
      try {
        await client.connect().catch((error: unknown) => { throw translated(error) })
        await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        await work(query)
      } finally {
        others.delete(client)
        await client.end().catch(() => {})
      }
    },
    close: (): Promise<void> => (closed ??= Promise.all([pool.end(), ...[...others].map((each) => each.end())])
      .then(() => {}))
  } satisfies Access & Record<string, unknown>
}
