import { setImmediate } from 'node:timers/promises'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { SchemaRequirements } from '../../../lib/storage/storage.ts'
import { toStorageError } from '../connection/driver-errors.ts'
import type { Executor, Query } from '../connection/executor.ts'
import type { Names } from '../tables/names.ts'
import { sameValues, schemaBehind } from '../tables/schema-errors.ts'
import type { FieldLists } from './word-list.ts'
import { movesTo } from '../dialects/index.ts'
import { createFieldIndex, type FieldIndex } from './field-indexes.ts'
import { fieldWords, makeFieldWords, recordList } from './field-words.ts'
import { createInspection, missingIndexes, type SchemaReport } from './inspection.ts'
import { LATEST, statementsBetween } from './migrations.ts'
import { readRecord, type RecordedSchema } from './recorded-schema.ts'
import { countingTables } from './counting-tables.ts'

const LOCKS_TRIES = 20

/** What a migrator does about profiles, and at the end. */
export interface MigratorSettings {
  /** True if it moves tables of another profile; otherwise it leaves them alone. */
  moves: boolean
  /** Tries what new tables need of the server, and undoes it, in the transaction that makes them. */
  tryTables: ((query: Query) => Promise<void>) | null
  /** Ends a migration that runs when the storage is closed. */
  closing: () => AbortSignal
}

/** Keeps the tables in step with the code. */
export interface Migrator {
  check (requirements: SchemaRequirements): Promise<void>
  /** The same, after migrating them. Returns whether it, or an earlier call, has made the tables. */
  migrate (requirements: SchemaRequirements): Promise<boolean>
  rollback (version: number): Promise<void>
  verifyWords (): Promise<number>
  rebuildWords (): Promise<void>
  inspect (requirements?: SchemaRequirements): Promise<SchemaReport>
}

function schemaNewer (version: number): StorageError {
  const message = `the tables are at version ${version}, this code knows ${LATEST}: install a newer fastify-users`
  return new StorageError('schema_newer', message)
}

/** SQLite's drivers block the event loop for each statement: between two of them, others get their turn. */
const takingTurns = (query: Query, closing: AbortSignal): Query => async (...statement) => {
  const rows = await query(...statement)
  await setImmediate()
  if (closing.aborted) throw new StorageError('unavailable', 'the storage was closed during its migration')
  return rows
}

/**
 * Creates a migrator. It does not use Knex's, which merges a host's migration settings into ours, leaves its lock
 * behind when a process dies, and fails if several processes start on an empty database. The migrator adds the fields
 * that it is asked to keep unique to `lists`, and notes there what users are found by.
 */
export function createMigrator (
  executor: Executor,
  names: Names,
  lists: FieldLists,
  { moves, tryTables, closing }: MigratorSettings
): Migrator {
  const { dialect, query: onPool, transaction } = executor

  const unfit = [...dialect.schema.unfit, ...(executor.prepares ? dialect.schema.unfitSession : [])]
  const unfitValues = unfit.map(({ value, isUnfit }, i) => `CASE WHEN ${isUnfit} THEN ${value} END AS setting${i}`)

  /** Refuses a database, or a connection, whose settings the store can't work with. */
  async function requireSettings (): Promise<void> {
    const [row] = await onPool(`SELECT ${unfitValues.join(', ')}`)
    for (const [i, { code, message }] of unfit.entries()) {
      const value = row?.[`setting${i}`] ?? null
      if (value !== null) throw new StorageError(code, message(String(value)))
    }
  }

  const recorded = async (query: Query): Promise<RecordedSchema> =>
    await readRecord(query, dialect, names) ??
      { version: 0, compatibleFrom: 0, profile: dialect.profile, searchable: '', hasAllWords: true }

  /** Makes the table of locks, where they are rows of one. */
  async function ensureLocks (): Promise<void> {
    const { locksTable } = dialect.transaction
    if (locksTable === null) return
    const { sql, params } = locksTable.exists(names)
    for (let tries = 0; (await onPool(sql, params)).length === 0; tries++) {
      try {
        // Whole or not at all: a table without its rows would lock nobody out.
        await transaction(async (query) => {
          for (const statement of locksTable.create(names)) await query(statement)
        })
      } catch (error) {
        // Another process may be making it.
        if (tries === LOCKS_TRIES) throw error
      }
    }
  }

  async function move (query: Query): Promise<void> {
    if (!moves || (await recorded(query)).profile === dialect.profile) return
    for (const statement of movesTo(dialect.profile, names, countingTables)) await query(statement)
  }

  /** Migrates to a version if it lies in this direction. Returns the previous version. */
  async function go (query: Query, to: number, direction: 'up' | 'down'): Promise<number> {
    const { version } = await recorded(query)
    // Even if it is compatible with this code: only newer code knows what to change and what to drop.
    if (version > LATEST) throw schemaNewer(version)
    if (direction === 'up' ? version >= to : version <= to) return version
    if (direction === 'up') for (const statement of dialect.schema.createSchema(names)) await query(statement)
    for (const statement of statementsBetween(dialect, names, version, to)) await query(statement)
    return version
  }

  const missing = (query: Query, requirements: SchemaRequirements): Promise<FieldIndex[]> =>
    missingIndexes(query, dialect, names, requirements)

  async function createIndex (query: Query, index: FieldIndex): Promise<void> {
    await query(createFieldIndex(dialect, names, index)).catch((thrown) => {
      const error = toStorageError(thrown, names)
      if (error.code !== 'field_taken') throw error
      throw sameValues(index.field)
    })
  }

  let hasCreated = false

  function remember ({ unique = [] }: SchemaRequirements): void {
    for (const field of unique) lists.unique.add(field)
  }

  /** Refuses tables that this code does not work with. */
  async function requireTables (
    { version, compatibleFrom, profile, searchable, hasAllWords }: RecordedSchema,
    requirements: SchemaRequirements
  ): Promise<void> {
    lists.words.note(searchable)
    if (compatibleFrom > LATEST) throw schemaNewer(version)
    if (profile !== dialect.profile) {
      const problem = `the tables have the profile ${profile}, not ${dialect.profile}`
      throw schemaBehind(problem, 'open({ migrate: true }) to move them')
    }
    if (version < LATEST) {
      throw schemaBehind(`the tables are at version ${version}, this code needs ${LATEST}`, 'open({ migrate: true })')
    }
    const indexes = await missing(onPool, requirements)
    const listed = (wanted: boolean) =>
      indexes.filter(({ isUnique }) => isUnique === wanted).map(({ field }) => field).join(', ')
    const flagOf = (wanted: boolean) => listed(wanted).replaceAll(' ', '')
    if (listed(false) !== '') {
      const problem = `there is no index for lists filtered by ${listed(false)}`
      throw schemaBehind(problem, 'open({ migrate: true, filterable })', `--filterable ${flagOf(false)}`)
    }
    if (listed(true) !== '') {
      const problem = `there is no index that keeps ${listed(true)} unique`
      throw schemaBehind(problem, 'open({ migrate: true, unique })', `--unique ${flagOf(true)}`)
    }
    if ((requirements.searchable?.key ?? searchable) !== searchable) {
      throw schemaBehind('the search words of users come from other fields', 'open({ migrate: true, searchable })')
    }
    if (requirements.searchable !== undefined && !hasAllWords) {
      throw schemaBehind('some users do not have their search words yet', 'open({ migrate: true, searchable })')
    }
  }

  return {
    inspect: createInspection(executor, names, () => recorded(onPool)),
    ...fieldWords(executor, names),

    async check (requirements) {
      remember(requirements)
      await requireSettings()
      await requireTables(await recorded(onPool), requirements)
    },

    async migrate (requirements) {
      remember(requirements)
      await requireSettings()
      // On a current schema, run nothing that needs the right to change schemas.
      const current = await recorded(onPool)
      const { searchable } = requirements
      const isCurrent = current.version === LATEST && (!moves || current.profile === dialect.profile) &&
        (searchable === undefined || (searchable.key === current.searchable && current.hasAllWords))
      if (isCurrent && (await missing(onPool, requirements)).length === 0) {
        await requireTables(current, requirements)
        return hasCreated
      }
      await ensureLocks()
      const signal = closing()
      const before = await transaction(async (on) => {
        const query = takingTurns(on, signal)
        if (current.version > 0) await move(query)
        const version = await go(query, LATEST, 'up')
        if (version === 0) await tryTables?.(query)
        for (const index of await missing(query, requirements)) await createIndex(query, index)
        if (searchable !== undefined && searchable.key !== (await recorded(query)).searchable) {
          await recordList(query, dialect, names, searchable.key)
        }
        return version
      }, { exclusive: true, noTimeout: true, signal })
      if (searchable !== undefined) await makeFieldWords(executor, names, searchable, 'others')
      await requireTables(await recorded(onPool), requirements)
      hasCreated ||= before === 0
      return hasCreated
    },

    async rollback (to) {
      if (!Number.isInteger(to) || to < 0 || to > LATEST) {
        throw new TypeError(`fastify-users: rollback() needs a version from 0 to ${LATEST}`)
      }
      if ((await recorded(onPool)).version > 0) await ensureLocks()
      await transaction((query) => go(query, to, 'down'), { exclusive: true, noTimeout: true })
    }
  }
}
