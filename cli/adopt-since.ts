import type { Knex } from 'knex'
import { readMoment } from '../lib/core/moments.ts'
import { momentOf } from '../lib/transfer/moments.ts'
import type { Mapped } from './adopt-mapping.ts'
import { UsageError } from './failure.ts'

/** Which rows were changed since a moment. */
export interface Since {
  /** Leaves out rows that the database itself can tell were not. */
  narrow (query: Knex.QueryBuilder): void
  /** `values`: in the order of the mapping. True too for a moment that can't be read: the import refuses that row. */
  holds (values: readonly unknown[]): boolean
}

/** Every row. */
export const ALWAYS: Since = { narrow () {}, holds: () => true }

// PostgreSQL compares these with a moment, by their index. Any other column may have all forms that are adopted.
const COMPARABLE = /^(?:date|timestamp with(?:out)? time zone)$/

/** True if `--since` misses rows that were only changed: there is no column that says when. */
export function missesChanges (mapping: readonly Mapped[]): boolean {
  return !mapping.some(({ name }) => name === 'updatedAt')
}

/**
 * Reads `--since`. A row was changed when the column of `updatedAt` says, or that of `createdAt` where it is NULL.
 * `typeOf`: the type of a column in PostgreSQL.
 * @throws UsageError
 */
export function readSince (text: string, mapping: readonly Mapped[], typeOf: (column: string) => string): Since {
  const since = readMoment(text)
  if (since === null) throw new UsageError('--since must be an RFC 3339 date and time')
  const places = ['updatedAt', 'createdAt']
    .map((member) => mapping.findIndex(({ name }) => name === member)).filter((place) => place !== -1)
  const columns = places.map((place) => String(mapping[place]?.from))
  const [changed, created] = columns
  if (changed === undefined) throw new UsageError('--since needs a column of updatedAt or createdAt in --map')
  const moment = new Date(since).toISOString()

  function mayBeSince (query: Knex.QueryBuilder, column: string): void {
    if (COMPARABLE.test(typeOf(column))) query.whereRaw('?? >= ?::timestamptz', [column, moment])
  }

  return {
    narrow (query) {
      if (!columns.some((column) => COMPARABLE.test(typeOf(column)))) return
      query.where((either) => {
        either.where((is) => { mayBeSince(is.whereNotNull(changed), changed) })
        if (created !== undefined) either.orWhere((is) => { mayBeSince(is.whereNull(changed), created) })
      })
    },

    holds (values) {
      const value = places.map((place) => values[place]).find((each) => each !== null && each !== undefined)
      if (value === undefined) return false
      const time = readMoment(String(momentOf(value)))
      return time === null || time >= since
    }
  }
}
