/** A PostgreSQL that can be stopped, killed and started again. */
export interface FaultyPostgres {
  url: string
  port: number
  start (): Promise<void>
  stop (signal?: NodeJS.Signals): Promise<void>
  /** Kills every process, as if the machine was gone. */
  kill (): Promise<void>
  signal (name: NodeJS.Signals): void
  sql (text: string, values?: readonly unknown[]): Promise<Array<Record<string, unknown>>>
  setting (name: string, value: string | null): Promise<void>
  close (): Promise<void>
}

/** Starts a new server. */
export function openPostgres (): Promise<FaultyPostgres>

/** Starts a standby of a server, which is stopped for a moment to copy its data. */
export function openStandby (primary: FaultyPostgres): Promise<FaultyPostgres>
