import { isStorageError, StorageError } from '../../../lib/storage/storage-error.ts'
import type { Outcome, RowWrite, Unit } from '../../../lib/storage/storage.ts'
import { type Bookkeeping, changesOf } from '../bookkeeping.ts'
import { isOwnReference, waitedTooLong } from '../connection/driver-errors.ts'
import type { Executor, Query } from '../connection/executor.ts'
import type { Param } from '../drivers/driver.ts'
import { namingTakenField } from '../schema/field-indexes.ts'
import { locksOf } from '../tables/lock-names.ts'
import type { Names } from '../tables/names.ts'
import type { SqlCollections } from './collections.ts'
import { EVENT_TARGETS, EVENT_VALUES, eventSource, eventValues } from '../events/event-writes.ts'
import type { Planned } from './lanes.ts'
import { eventsOf, type RewriteEvents } from './rewrites.ts'
import type { RowStatements } from './statements.ts'

const OK: Outcome = { code: 'ok' }

// As many writes at most are one statement.
const TOGETHER_MAX = 5
// Each 100 rewritten events extend the time limit by that of one write.
const REWRITTEN_PER_WRITE = 100

const DIVISION_BY_ZERO = '22012'
const NOT_A_NUMBER = '22P02'
const UNIQUE = /^(?:23505|SQLITE_CONSTRAINT.*|SQLITE_CONSTRAINT)$/

/** The outcome that an error of the database stands for. @throws any other error */
function outcomeOf (error: unknown, at: number, names: Names): Outcome {
  if (!isStorageError(error)) throw error
  const { code, field = '', driverCode = '', message } = error
  if (driverCode === NOT_A_NUMBER) throw leftOut()
  if (code === 'email_taken') return { code: 'taken', at, member: 'emailKey' }
  if (code === 'field_taken') return { code: 'taken', at, member: { field } }
  if (driverCode === DIVISION_BY_ZERO || isOwnReference(error, names)) return { code: 'changed', at }
  if (UNIQUE.test(driverCode) && /api_keys(?:_start_unique|\.start)/.test(message)) {
    return { code: 'taken', at, member: 'start' }
  }
  if (UNIQUE.test(driverCode) && /user_groups(?:_name_unique|\.name_key)/.test(message)) {
    return { code: 'taken', at, member: 'nameKey' }
  }
  if (UNIQUE.test(driverCode) && /pkey|\.id\b/.test(message)) return { code: 'changed', at }
  throw error
}

/** An insertion that nothing refused has added no row. */
const leftOut = (): StorageError =>
  new StorageError('fault', 'the database added no row, but reported no error: a trigger of the table suppresses it')

export interface UnitParts {
  executor: Executor
  names: Names
  collections: SqlCollections
  statements: RowStatements
  books: Bookkeeping
  rewrite: RewriteEvents
}

interface PlannedUnit { unit: Unit, writes: readonly Planned[] }

/** Writes of memberships that follow each other and have one shape, as one; every other by itself. */
function runsOf (writes: readonly Planned[]): Planned[][] {
  const runs: Planned[][] = []
  for (const write of writes) {
    const last = runs.at(-1)
    if (write.shape.in === 'memberships' && last?.[0]?.shape === write.shape) last.push(write)
    else runs.push([write])
  }
  return runs
}

const fieldsOf = (write: RowWrite | undefined) => write?.in === 'users' ? write.put?.record.fields ?? {} : {}

/** Makes units of several writes: by one statement where that can write to several tables, else in a transaction. */
export function rowUnits ({ executor, names, collections, statements, books, rewrite }: UnitParts) {
  const { dialect, query, transaction, joined } = executor
  const { batch, writesTwoTables, p, transaction: { lockNames } } = dialect
  const source = eventSource(dialect)
  const texts = new Map<string, string>()

  function textOf (writes: readonly Planned[], events: number): string {
    const { given, holds, insertFrom, updateFrom, dropFrom } = statements
    let n = 1
    const parts: string[] = []
    for (const [i, { shape, values }] of writes.entries()) {
      const row = batch.one(given(shape), n)
      const made = {
        insert: () => insertFrom(shape, row, true),
        update: () => updateFrom(shape, row, holds(shape)),
        // The id is the first value.
        drop: () => dropFrom(shape, row, ` AND id = ${p(n)}`)
      }
      parts.push(`w${i} AS (${made[shape.kind]()})`)
      n += values.length
    }
    // A new row that is not there has been left out by a trigger, and is an error of its own.
    const counts = writes.map(({ shape }, i) => shape.kind === 'insert' && collections[shape.in].beside === undefined
      ? `CAST(CASE WHEN (SELECT count(*) FROM w${i}) = 0 THEN 'none' ELSE '1' END AS integer) AS w${i}`
      : `1 / (SELECT count(*) FROM w${i}) AS w${i}`)
    if (events > 0) {
      const rows = Array.from({ length: events }, (_, i) => {
        const row = batch.one(EVENT_VALUES, n)
        n += EVENT_VALUES.length
        return `SELECT ${i} AS n, q.* FROM ${row}`
      })
      // The writes come before the events have their places in the sequence.
      const before = writes.map((_, i) => `(SELECT count(*) FROM w${i}) AS done${i}`)
      parts.push(`recorded AS (INSERT INTO ${names.events} (${EVENT_TARGETS}) SELECT ${source} ` +
        `FROM (${rows.join(' UNION ALL ')}) AS q, ${before.join(', ')} ORDER BY n)`)
    }
    return `WITH ${parts.join(', ')} SELECT ${counts.join(', ')}`
  }

  function canBeOne ({ unit, writes }: PlannedUnit): boolean {
    const users = writes.filter(({ shape }) => shape.in === 'users').length
    // A statement does not see what its other parts write.
    const rows = new Set(writes.map(({ shape, id }) => `${shape.in} ${id}`))
    const isBesideOther = writes.some(({ shape }) => writes.some((other) =>
      collections[shape.in].beside?.[other.shape.in] !== undefined))
    return writesTwoTables && unit.rewrites.length === 0 && writes.length <= TOGETHER_MAX && users < 2 &&
      writes.length > 0 && unit.events.length <= TOGETHER_MAX && rows.size === writes.length && !isBesideOther &&
      writes.every(({ shape }) => collections[shape.in].takes === undefined || shape.kind !== 'drop')
  }

  async function asOne ({ unit, writes }: PlannedUnit, since: number): Promise<Outcome> {
    const shapes = writes.map(({ shape: { in: name, kind, set } }) => `${name} ${kind} ${set.join()}`).join('; ')
    const name = `${shapes}; ${unit.events.length}`
    const text = texts.get(name) ?? textOf(writes, unit.events.length)
    texts.set(name, text)
    const params: Param[] = [...writes.flatMap(({ values }) => values), ...unit.events.flatMap(eventValues)]
    const waitsFor = writes[0]?.waitsFor ?? null
    await query(text, params, { savepoint: true, bounded: isKept(unit), waitsFor, since })
    return OK
  }

  /** Locks addresses and rows in one order, so that concurrent units can't wait for each other. */
  async function lock (on: Query, { unit, writes }: PlannedUnit): Promise<void> {
    if (lockNames === null || writes.length < 2) return
    const keys = unit.writes.flatMap((write) => write.in === 'users' && write.put !== null &&
      write.put.keys.emailKey !== write.was?.keys.emailKey
      ? write.put.keys.emailKey ?? []
      : [])
    if (!joined && keys.length > 0) await on(lockNames(names), [locksOf('address', keys)])
    for (const name of [...new Set(writes.map(({ shape }) => shape.in))].sort()) {
      const ids = writes.filter(({ shape }) => shape.in === name && shape.kind !== 'insert').map(({ id }) => id)
      if (ids.length < 2) continue
      await on(`SELECT id FROM ${collections[name].table(names)} WHERE ${dialect.isIn('id', 1, 'text')} ` +
        `ORDER BY id${dialect.forUpdate}`, [ids])
    }
  }

  /** How a unit changes the numbers of users. */
  function counted ({ writes: all }: Unit) {
    return all.flatMap((write) => {
      if (write.in !== 'users') return []
      const [put, was] = [write.put?.record, write.was?.record]
      if (put !== undefined && was !== undefined) {
        return put.tenant === was.tenant ? [] : [{ scope: put.tenant ?? '', users: 1 }]
      }
      return put === undefined ? changesOf(was?.tenant, -1) : changesOf(put.tenant, 1)
    })
  }

  /** `isTogether`: memberships that follow each other are one statement, which does not say which it refuses. */
  async function inTransaction (planned: PlannedUnit, since: number, isTogether = true): Promise<Outcome> {
    const { unit, writes } = planned
    let at = 0
    let isChanged = false
    const longer = unit.rewrites.length === 0 ? 0 : await rewrite.count(query, unit.rewrites)
    const work = async (on: Query): Promise<Outcome> => {
      at = 0
      isChanged = false
      await lock(on, planned)
      for (const part of isTogether ? runsOf(writes) : writes.map((each) => [each])) {
        const [first, ...more] = part
        if (first === undefined) continue
        const { shape, id, waitsFor } = first
        const one = more.length > 0 ? null : batch.one(statements.given(shape), 1)
        const text = statements.statement(shape, { isStrict: true, isBounded: false, one })
        const given = part.map(({ values }) => values)
        const rows = await on(text, more.length > 0 ? batch.values(given) : given[0] ?? [], { waitsFor })
        const mustBe = shape.kind === 'insert' && collections[shape.in].beside === undefined
        if (rows.length === 0 && mustBe) throw leftOut()
        isChanged = rows.length < part.length
        if (isChanged) throw new StorageError('fault', 'the unit is undone')
        const { takes } = collections[shape.in]
        if (shape.kind === 'drop' && takes !== undefined) {
          const { table, of } = collections[takes]
          await on(`DELETE FROM ${table(names)} WHERE ${of ?? 'id'} = ${p(1)}`, [id])
        }
        at += part.length
      }
      await books.count(on, counted(unit))
      await books.record(on, eventsOf(unit))
      for (const each of unit.rewrites) await rewrite.all(on, each, Infinity)
      return OK
    }
    const [only] = writes
    const waitsFor = writes.length === 1 ? only?.waitsFor ?? null : null
    try {
      return await transaction(work, {
        waitsFor, since, bounded: isKept(unit), writes: writes.length + Math.ceil(longer / REWRITTEN_PER_WRITE)
      })
    } catch (error) {
      const outcome: Outcome = isChanged
        ? { code: 'changed', at }
        : outcomeOf(await named(error, unit.writes[at]), at, names)
      const isOfMany = isTogether && unit.writes[outcome.code === 'ok' ? 0 : at + 1]?.in === 'memberships'
      return isOfMany ? await inTransaction(planned, since, false) : outcome
    }
  }

  /** An error whose taken field has its name: the database knows only the index. */
  async function named (error: unknown, write: RowWrite | undefined): Promise<unknown> {
    return namingTakenField(names, fieldsOf(write), () => Promise.reject(error)).catch((each: unknown) => each)
  }

  const isKept = ({ writes: all }: Unit): boolean => all.some(({ in: name }) => name === 'idempotency')

  return async (planned: PlannedUnit, since: number): Promise<Outcome> => {
    const { unit } = planned
    try {
      if (!canBeOne(planned)) return await inTransaction(planned, since)
      try {
        return await asOne(planned, since)
      } catch (error) {
        const users = unit.writes.findIndex((write) => write.in === 'users')
        const outcome = outcomeOf(await named(error, unit.writes[users]), Math.max(0, users), names)
        const isKnown = unit.writes.length === 1 || (outcome.code === 'taken' && outcome.member !== 'start')
        // One statement after the other says which write it was.
        return isKnown ? outcome : await inTransaction(planned, since)
      }
    } catch (error) {
      // The call that holds the key is still running.
      if (!isKept(unit) || !waitedTooLong(error)) throw error
      throw new StorageError('idempotency_in_progress', 'the first call with the key is still running')
    }
  }
}
