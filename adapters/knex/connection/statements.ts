import { StorageError } from '../../../lib/core/storage-error.ts'
import { isStorable } from '../../../lib/core/text.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import { withDeadline } from './deadlines.ts'
import type { Query } from './executor.ts'
import { retryWhileBusy } from './retry-while-busy.ts'

/** Settings of statements on a pool of our own. */
export interface StatementSettings {
  /** Milliseconds after which a statement is given up and its connection closed: the server may never answer. */
  deadline?: number | undefined
  /** Prepare statements with values once on each connection, and keep them there. */
  prepare?: boolean | undefined
  /**
   * Milliseconds that a statement is retried while another connection locks the SQLite file; undefined: SQLite waits.
   */
  busyTimeout?: number | undefined
}

/** True if every store can keep a text, or every text in a list, unchanged. */
export function isStorableParam (param: Param): boolean {
  return typeof param === 'string' ? isStorable(param) : !Array.isArray(param) || param.every(isStorableParam)
}

/** Runs statements on one connection. A text that can't be stored unchanged is refused before it is sent. */
export function queryOn (dialect: Dialect, connection: unknown, settings: StatementSettings = {}): Query {
  const { deadline, prepare = false, busyTimeout } = settings
  return (sql, params = [], { keepPlan = true } = {}) => {
    if (!params.every(isStorableParam)) {
      return Promise.reject(new StorageError('fault', 'a text can not be stored unchanged'))
    }
    const run = () => dialect.run(connection, sql, params, prepare && keepPlan && params.length > 0)
    if (busyTimeout !== undefined) return retryWhileBusy(run, busyTimeout)
    return deadline === undefined ? run() : withDeadline(run(), dialect, connection, deadline)
  }
}
