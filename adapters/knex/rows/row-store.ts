import { isDeepStrictEqual } from 'node:util'
import type { Outcome, Row, Storage, RowWrite, Unit } from '../../../lib/storage/storage.ts'
import { isLost, isOtherList, isOwnReference } from '../connection/driver-errors.ts'
import type { Executor } from '../connection/executor.ts'
import type { Compaction } from '../counting/hand-counting.ts'
import type { Bookkeeping } from '../bookkeeping.ts'
import type { RefusedWrites } from '../refused-writes.ts'
import type { FieldLists } from '../schema/word-list.ts'
import type { Names } from '../tables/names.ts'
import { isTaken, planning, rowLanes } from './lanes.ts'
import { rowFinders, rowLists } from './reads.ts'
import { rewriteEvents } from './rewrites.ts'
import { rowStatements } from './statements.ts'
import { rowUnits } from './units.ts'
import { sqlCollections } from './user-collection.ts'

export interface RowParts {
  lists: FieldLists
  books: Bookkeeping
  compaction: Compaction
  /** Gives committed events their positions. */
  numberAll: () => Promise<void>
  refused: RefusedWrites
}

// Of more units in one call, the last ones would wait longer than a write may.
const TOGETHER_MAX = 32

const OK: Outcome = { code: 'ok' }
const CHANGED: Outcome = { code: 'changed', at: 0 }

/** What the rows of an executor are written and found by. */
export function rowsOn (
  executor: Executor, names: Names, { lists, books, compaction, numberAll, refused }: RowParts
): Pick<Storage, 'commit' | 'find' | 'list'> & { rewrite: Storage['log']['rewrite'] } {
  const { dialect, query, transaction, joined } = executor
  const { words, unique } = lists
  const collections = sqlCollections(words, dialect.schema.reference('', '') !== '')
  const statements = rowStatements(dialect, names, collections)
  const plan = planning(collections)
  const rewrite = rewriteEvents(dialect, names)
  const parts = { executor, names, collections, statements, books }
  const writeOne = rowLanes(parts)
  const writeUnit = rowUnits({ ...parts, rewrite })
  const find = rowFinders(executor, names, collections)
  const holderOf = `SELECT id FROM ${names.users} WHERE email_key = ${dialect.p(1)} AND tenant = ${dialect.p(2)}`

  /** True if a write sets a value that another row may have. It would have its whole group refused. */
  function setsUnique (write: RowWrite): boolean {
    if (write.in === 'apiKeys') return write.was === null
    if (write.in === 'userGroups') return write.put !== null && write.put.record.nameKey !== write.was?.record.nameKey
    if (write.in !== 'users' || write.put === null || write.was === null) return false
    const { put, was } = write
    return put.keys.emailKey !== was.keys.emailKey || put.record.tenant !== was.record.tenant ||
      [...unique].some((name) => JSON.stringify(put.record.fields[name]) !== JSON.stringify(was.record.fields[name]))
  }

  function commitOnce (unit: Unit): Promise<Outcome> {
    const since = performance.now()
    const { writes, events, rewrites } = unit
    const [only, ...more] = writes
    const isLane = only !== undefined && more.length === 0 && events.length < 2 && rewrites.length === 0 &&
      !setsUnique(only) && (only.put !== null || collections[only.in].takes === undefined) &&
      only.in !== 'idempotency' && only.in !== 'memberships' && !(joined && only.in === 'users' && only.put === null)
    if (!isLane) return writeUnit({ unit, writes: writes.map((write) => plan(write)) }, since)
    const planned = plan(only)
    return writeOne(planned, events[0] ?? null, since).then((row) => {
      if (row !== undefined) return OK
      // By an error the database says what is taken.
      return only.in === 'users' && only.was === null ? writeUnit({ unit, writes: [planned] }, since) : CHANGED
    })
  }

  /** True if a row is there as a write has put it, whose answer was lost. */
  async function isThere (write: RowWrite | undefined): Promise<boolean> {
    if (write === undefined || write.put === null || write.was !== null) return false
    const plain = ({ record }: Row<RowWrite['in']>): unknown => JSON.parse(JSON.stringify(record))
    const [there] = await find(write.in, [{ id: write.put.record.id }])
    return there != null && isDeepStrictEqual(plain(there), plain(write.put))
  }

  /**
   * What a taken value means. A new user who is there already meets its own values: that is a change. Of an address and
   * a field that are both taken the address is named, whichever the database has met.
   */
  async function judged (unit: Unit, outcome: Outcome): Promise<Outcome> {
    if (outcome.code !== 'taken') return outcome
    const write = unit.writes[outcome.at]
    if (write?.in !== 'users' || write.put === null) return outcome
    const { record: { id, tenant = '' }, keys: { emailKey } } = write.put
    const leaves = unit.writes.some((each) => each.in === 'users' && each.put === null && each.was?.record.id === id)
    if (write.was === null && !leaves && (await find('users', [{ id }]))[0] != null) {
      return { code: 'changed', at: outcome.at }
    }
    if (typeof outcome.member === 'string' || emailKey === undefined) return outcome
    const holders = await query(holderOf, [emailKey, tenant])
    return holders.some((row) => row['id'] !== id) ? { ...outcome, member: 'emailKey' } : outcome
  }

  async function afterError (unit: Unit, error: unknown): Promise<Outcome> {
    refused.note(error)
    if (isOtherList(error) && !joined) {
      await words.read(query)
      return commitOnce(unit)
    }
    // Another mount has asked for a unique field that this one knows nothing of.
    if (isTaken(error) || isOwnReference(error, names)) {
      const outcome = await writeUnit({ unit, writes: unit.writes.map((write) => plan(write)) }, performance.now())
      return judged(unit, outcome)
    }
    // It may have been carried out.
    const added = unit.writes.find((write) => write.put !== null && write.was === null)
    if (!isLost(error) || added === undefined) throw error
    const outcome = await commitOnce(unit)
    return outcome.code !== 'ok' && await isThere(added) ? OK : outcome
  }

  function commitUnit (unit: Unit): Promise<Outcome> {
    return commitOnce(unit).then((outcome) => {
      refused.note(null)
      return outcome.code === 'taken' ? judged(unit, outcome) : outcome
    }, (error) => afterError(unit, error))
  }

  async function prepare (units: readonly Unit[]): Promise<void> {
    await words.know(query)
    // A transaction of the host's may have the only connection.
    if (!joined && units.some(({ rewrites }) => rewrites.length > 0)) await numberAll()
  }

  function noteNew ({ writes }: Unit): void {
    for (const { in: name, put, was } of writes) {
      if (name === 'users' && put !== null && was === null) compaction.onCreate(put.record.tenant)
    }
  }

  /** One that waits for a lock holds up no other. */
  async function commitMany (units: readonly Unit[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    const left = units.entries()
    let isFailed = false
    async function commitNext (): Promise<void> {
      for (const [at, unit] of left) {
        if (isFailed) return
        outcomes[at] = await commitUnit(unit)
      }
    }
    const workers = Array.from({ length: Math.min(TOGETHER_MAX, units.length) }, () =>
      commitNext().catch((error: unknown) => {
        isFailed = true
        throw error
      }))
    await Promise.all(workers)
    return outcomes
  }

  function commitAll (units: readonly Unit[]): Promise<Outcome[]> {
    units.forEach(noteNew)
    const [only] = units
    return only !== undefined && units.length === 1
      ? commitUnit(only).then((outcome) => [outcome])
      : commitMany(units)
  }

  function commit (units: readonly Unit[]): Promise<Outcome[]> {
    const isPrepared = words.isKnown() && !units.some(({ rewrites }) => rewrites.length > 0)
    return isPrepared ? commitAll(units) : prepare(units).then(() => commitAll(units))
  }

  return {
    find,
    list: rowLists(executor, names, collections),
    commit,
    async rewrite (asked, limit) {
      if (!joined) await numberAll()
      const since = performance.now()
      const writes = Math.min(limit, await rewrite.count(query, [asked]))
      return transaction((on) => rewrite.all(on, asked, limit), { since, writes: Math.ceil(writes / 100) })
    }
  }
}
