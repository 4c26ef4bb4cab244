/** A value that a statement is given. A list is a list where the database has them, and JSON where it has none. */
export type Param = string | number | null | readonly Param[]

/** A statement and its values. */
export interface Statement {
  sql: string
  params: readonly Param[]
}

/** A row as the driver gives it. */
export type Row = Record<string, unknown>

/** What the database made of a COMMIT. */
export interface Ending {
  committed (): boolean
  stop (): void
}

/** What the drivers of databases do differently. */
export interface Driver {
  /** Runs one statement on a connection; `prepare`: it is prepared at its first use on the connection, and kept. */
  run (connection: unknown, sql: string, params: readonly Param[], prepare?: boolean): Promise<Row[]>
  /** From now on statements on this connection run in the order in which they are sent, whoever sends them. */
  keepOrder (connection: unknown): void
  /** Watches how the transaction on a connection ends; null where a COMMIT that is answered has committed. */
  watchEnd (connection: unknown): Ending | null
  /** Finalizes the statements that are kept on a connection, where it could not be closed with them. */
  forgetStatements (connection: unknown): void
}

/** What the drivers of SQLite can do beside it. */
export interface SqliteDriverMethods extends Driver {
  /** Runs a script of several statements, which gives nothing back. */
  execute (connection: unknown, script: string): Promise<void>
}

/** SQLite has no lists: one is JSON text. */
export function toSqliteValue (value: Param): string | number | null {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
