import { USER_COLUMN_LIST } from '../plain-users.ts'
import type { HistoryDatabase, Query } from './databases.ts'
import { type Step, TENANTS } from './steps.ts'

/** The distance of two positions, so that inserted ids lie between others. */
const SPACE = 100_000
/** Two positions of deleted ranges are a little further apart, so that ranges begin anywhere. */
const RANGE_SPACE = 120_000
const FIRST_APPENDED = 1_000_000_000
/** Of thirty users three belong to nobody, one to the small tenant, and the rest to the others. */
const TENANT = "CASE WHEN value % 10 = 0 THEN '' WHEN value % 30 = 1 THEN 'small' " +
  "WHEN value % 2 = 0 THEN 'large' ELSE 'larger' END"
const NOW = "'2026-01-01T00:00:00.000Z'"

/** True if a statement conflicted with another transaction: that of its connection is over then. */
function isConflict (error: unknown): boolean {
  return ['40001', '40P01', 'SQLITE_BUSY'].includes(String(Object(error).code))
}

/** `at`: where one of the pages begins, from 0 to 9999, as a share of all users. `tenant`: undefined for all users. */
type CheckedPages = Pick<Extract<Step, { kind: 'check' }>, 'order' | 'at' | 'limit' | 'tenant'>

/**
 * Compares pages with `count(*)` and OFFSET. In its transaction a connection sees one snapshot, or no other connection
 * commits meanwhile. @throws Error for a wrong total or page
 */
async function checkPages (database: HistoryDatabase, query: Query, checked: CheckedPages): Promise<void> {
  const { table, page } = database
  const { order, at, limit, tenant } = checked
  const from = `FROM ${table}${tenant === undefined ? '' : ` WHERE tenant = '${tenant}'`}`
  const total = Number((await query(`SELECT count(*) AS n ${from}`))[0]?.['n'])
  for (const offset of [0, Math.floor(at / 9999 * total), Math.max(0, total - limit), total + 3]) {
    const expected = await query(`SELECT id ${from} ORDER BY id ${order} LIMIT ${limit} OFFSET ${offset}`)
    const { sql, params } = page({ order, limit, offset, tenant })
    const [row] = await query(sql, params)
    const items = row?.['items'] ?? []
    // pg parses JSON by itself.
    const list: unknown[][] = typeof items === 'string' ? JSON.parse(items) : Object(items)
    const ids = list.map(([id]) => id)
    const counted = Number(row?.['counted']) + Number(row?.['tail'])
    if (counted === total && JSON.stringify(ids) === JSON.stringify(expected.map(({ id }) => id))) continue
    const [first] = expected
    throw new Error(`page of ${tenant ?? 'all'} ${order} from ${offset}, ${limit} long: ` +
      `total ${counted} instead of ${total}, ` +
      `${ids.length} instead of ${expected.length} users, from ${String(ids[0])} instead of ${String(first?.['id'])}`)
  }
}

/** Plays steps on a database. `connections[i]` has a transaction open while `open[i]` is true. */
class Player {
  readonly open: boolean[]
  readonly background: Array<Promise<unknown>> = []
  readonly #database: HistoryDatabase
  #newest = FIRST_APPENDED
  #unique = 0

  constructor (database: HistoryDatabase) {
    this.#database = database
    this.open = database.connections.map(() => false)
  }

  query (on: number, sql: string) {
    return this.#connection(on)(sql)
  }

  #connection (on: number) {
    const connection = this.#database.connections[on]
    if (connection === undefined) throw new Error(`there is no connection ${on}`)
    return connection
  }

  /** SQLite has one writer: while another connection's transaction is open, a write would wait for ever. */
  #isBlocked (on: number): boolean {
    return this.#database.isSqlite && this.#isOpenElsewhere(on)
  }

  #isOpenElsewhere (on: number): boolean {
    return this.open.some((isOpen, other) => other !== on && isOpen)
  }

  async #insert (on: number, count: number, number: string): Promise<void> {
    const { table, id, series } = this.#database
    const unique = ++this.#unique
    const newId = `${id(number)} || '${String(unique).padStart(15, '0')}'`
    await this.query(on, `INSERT INTO ${table} ${USER_COLUMN_LIST.replace(')', ', tenant)')}
      SELECT ${newId}, 'n', 'n', 'e',
      '${unique}-' || value, 1, ${NOW}, ${NOW}, ${TENANT} FROM ${series(count)}`)
  }

  async #begin (on: number, isolation: string): Promise<void> {
    const { isSqlite, table } = this.#database
    if (this.open[on] === true || this.#isBlocked(on)) return
    this.open[on] = true
    await this.query(on, isSqlite ? 'BEGIN IMMEDIATE' : `BEGIN ISOLATION LEVEL ${isolation}`)
    // The first statement takes the snapshot.
    await this.query(on, `SELECT count(*) FROM ${table}`)
  }

  async end (on: number, how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    if (this.open[on] !== true) return
    this.open[on] = false
    await this.query(on, how)
  }

  async check (on: number, pages: CheckedPages): Promise<void> {
    const { isSqlite } = this.#database
    const alone = this.open[on] !== true
    if (alone && this.#isBlocked(on)) return
    if (alone) await this.query(on, isSqlite ? 'BEGIN' : 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await checkPages(this.#database, this.#connection(on), pages)
    if (alone) await this.query(on, 'COMMIT')
  }

  async #delete ({ on, from, to, nth }: Extract<Step, { kind: 'delete' }>): Promise<void> {
    const { isSqlite, table, id } = this.#database
    const [low, high] = [from, to].sort((a, b) => a - b).map((at) => id(String(at * RANGE_SPACE)))
    const lock = isSqlite ? '' : ' FOR UPDATE SKIP LOCKED'
    const character = isSqlite ? 'abs(unicode(substr(id, 13, 1)))' : 'ascii(substr(id, 13, 1))'
    await this.query(on, `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table}
      WHERE id >= ${low} AND id <= ${high} AND ${character} % ${nth} = 0${lock})`)
  }

  /** Sets a column of five users. */
  async #change (on: number, at: number, column: 'id' | 'tenant', value: string): Promise<void> {
    const { isSqlite, table, id } = this.#database
    const lock = isSqlite ? '' : ' FOR UPDATE SKIP LOCKED'
    await this.query(on, `UPDATE ${table} SET ${column} = ${value} WHERE id IN (SELECT id FROM ${table}
      WHERE id >= ${id(String(at * RANGE_SPACE))} ORDER BY id LIMIT 5${lock})`)
  }

  async #truncate (on: number): Promise<void> {
    const { isSqlite, table } = this.#database
    if (this.#isOpenElsewhere(on)) return
    await this.query(on, isSqlite ? `DELETE FROM ${table}` : `TRUNCATE ${table} CASCADE`)
    // Everybody else waits for the end of a transaction with a TRUNCATE.
    await this.end(on, ++this.#unique % 2 === 0 ? 'COMMIT' : 'ROLLBACK')
  }

  async #write (step: Step): Promise<void> {
    switch (step.kind) {
      case 'insert': return this.#insert(step.on, step.count, `${step.at * SPACE} + value`)
      case 'append':
        this.#newest += step.count
        return this.#insert(step.on, step.count, `${this.#newest - step.count} + value`)
      case 'delete': return this.#delete(step)
      case 'changeIds': {
        const newId = `substr(id, 1, 15) || '${String(++this.#unique).padStart(9, '0')}' || substr(id, 25)`
        return this.#change(step.on, step.at, 'id', newId)
      }
      case 'changeTenants':
        return this.#change(step.on, step.at, 'tenant', "CASE tenant WHEN 'large' THEN 'larger' ELSE 'large' END")
      case 'insertUndone':
        if (this.open[step.on] !== true) return
        await this.query(step.on, 'SAVEPOINT s')
        await this.#insert(step.on, step.count, `${step.at * SPACE} + value`)
        await this.query(step.on, 'ROLLBACK TO SAVEPOINT s')
        return
      case 'truncate': return this.#truncate(step.on)
    }
  }

  async #do (step: Step): Promise<void> {
    const { compaction } = this.#database
    switch (step.kind) {
      case 'compact':
        for (const tenant of TENANTS) compaction.onPage(tenant, Infinity, 0)
        this.background.push(compaction.run())
        return
      case 'rebuild': this.background.push(compaction.rebuild()); return
      case 'check': return this.check(step.on, step)
      case 'begin': return this.#begin(step.on, step.isolation)
      case 'end': return this.end(step.on, step.how)
      default: if (!this.#isBlocked(step.on)) await this.#write(step)
    }
  }

  /** Does one step. A conflict rolls the transaction of its connection back. */
  async play (step: Step): Promise<void> {
    try {
      await this.#do(step)
    } catch (error) {
      if (!('on' in step) || !isConflict(error)) throw error
      await this.end(step.on, 'ROLLBACK')
    }
  }
}

/** Plays a history. @throws Error if a total or a page differs from those of `count(*)` and OFFSET */
export async function playHistory (database: HistoryDatabase, steps: readonly Step[]): Promise<void> {
  const { table, compaction, verify } = database
  const player = new Player(database)
  await player.query(0, `DELETE FROM ${table}`)
  try {
    for (const step of steps) await player.play(step)
  } finally {
    for (const on of player.open.keys()) await player.end(on, 'COMMIT').catch(() => player.query(on, 'ROLLBACK'))
  }
  await Promise.all(player.background)
  for (const tenant of TENANTS) compaction.onPage(tenant, Infinity, 0)
  await compaction.run()
  for (const tenant of [undefined, ...TENANTS]) {
    for (const order of ['asc', 'desc'] as const) await player.check(0, { order, at: 5000, limit: 20, tenant })
  }
  const { users, counted, wrong } = await verify()
  if (users !== counted || wrong !== 0) {
    throw new Error(`${counted} counted instead of ${users} users, ${wrong} wrong numbers`)
  }
}
