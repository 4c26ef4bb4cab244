/** A value of a statement. A list stays a list where the database has them, and becomes JSON where it has none. */
export type Param = string | number | null | readonly Param[]

/** A statement and its values. */
export interface Statement {
  sql: string
  params: readonly Param[]
}

/** Watches how the transaction on a connection ends. */
export interface CommitWatch {
  committed (): boolean
  stop (): void
}

/** What the drivers of databases do differently. */
export interface Driver {
  /** Runs one statement on a connection. `prepare`: prepare it at its first use on the connection, and keep it. */
  run (
    connection: unknown,
    sql: string,
    params: readonly Param[],
    prepare?: boolean
  ): Promise<Array<Record<string, unknown>>>
  /** From now on statements on this connection run in the order in which they are sent, whoever sends them. */
  keepOrder (connection: unknown): void
  /** Watches how the transaction on a connection ends; null where every answered COMMIT has committed. */
  watchCommit (connection: unknown): CommitWatch | null
  /** Closes the network socket of a connection without waiting for the server. */
  destroySocket (connection: unknown): void
  /**
   * True if statements may be prepared on the connections of a host too: they end with their connection, and no pooler
   * lends another one meanwhile.
   */
  preparesOnHosts: boolean
  /** Finalises the statements that a connection keeps, if it could not be closed with them. */
  finalizeStatements (connection: unknown): void
}

/** A driver of SQLite. */
export interface SqliteDriverMethods extends Driver {
  /** Runs a script of several statements, without results. */
  execute (connection: unknown, script: string): Promise<void>
}

/** SQLite has no lists: a list is JSON text. */
export function toSqliteValue (value: Param): string | number | null {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
