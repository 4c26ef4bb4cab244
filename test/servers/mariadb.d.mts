export interface MariadbServer {
  socket: string
  url: string
  readonly pid: number | undefined
  /** Ends it as a crash does. */
  kill: () => Promise<void>
  /** Starts it again on its data. */
  start: () => Promise<void>
  stop: () => Promise<void>
}
export declare function startMariadb (
  options?: { durable?: boolean, more?: readonly string[] }
): Promise<MariadbServer | undefined>
