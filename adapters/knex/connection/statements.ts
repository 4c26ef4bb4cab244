import { StorageError } from '../../../lib/storage/storage-error.ts'
import { isStorable } from '../../../lib/core/text.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import { withDeadline } from './deadlines.ts'
import type { Query } from './executor.ts'

/** Settings of statements on a pool of our own. */
export interface StatementSettings {
  /** Prepare statements with values once on each connection, and keep them there. */
  prepare?: boolean | undefined
}

interface ConnectionSettings extends StatementSettings {
  /** When a statement is given up and its connection closed, by `performance.now()`: the server may never answer. */
  deadline?: number
}

// Texts with values of different numbers are few, and no caller should be able to make them many: the server keeps a
// plan for each.
const PREPARED_MAX = 400
const preparedOn = new WeakMap<object, Set<string>>()

/** True if a connection may keep a statement: it has it, or not too many others. */
function mayKeep (connection: unknown, sql: string): boolean {
  if (typeof connection !== 'object' || connection === null) return false
  const texts = preparedOn.get(connection) ?? new Set()
  preparedOn.set(connection, texts)
  return texts.has(sql) || (texts.size < PREPARED_MAX && texts.add(sql).has(sql))
}

/** True if every store can keep a text, or every text in a list, unchanged. */
export function isStorableParam (param: Param): boolean {
  return typeof param === 'string' ? isStorable(param) : !Array.isArray(param) || param.every(isStorableParam)
}

/** Runs statements on one connection. A text that can't be stored unchanged is refused before it is sent. */
export function queryOn (dialect: Dialect, connection: unknown, settings: ConnectionSettings = {}): Query {
  const { deadline = Infinity, prepare = false } = settings
  return (sql, params = [], { keepPlan = true } = {}) => {
    if (!params.every(isStorableParam)) {
      return Promise.reject(new StorageError('fault', 'a text cannot be stored unchanged'))
    }
    const isKept = prepare && keepPlan && params.length > 0 && mayKeep(connection, sql)
    const result = dialect.run(connection, sql, params, isKept)
    return withDeadline(result, dialect, connection, deadline)
  }
}
