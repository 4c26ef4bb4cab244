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
    const result = dialect.run(connection, sql, params, prepare && keepPlan && params.length > 0)
    return withDeadline(result, dialect, connection, deadline)
  }
}
