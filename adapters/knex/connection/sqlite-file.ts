import { closeSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { EventLog, Storage, WebhookStore } from '../../../lib/storage/storage.ts'

// The file has addresses and names: nobody but its owner reads it, unless whoever made it has decided otherwise.
const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

// Methods whose success promises that data is, or would be, stored.
const ACKNOWLEDGED = [
  'writeUsers', 'writeApiKey', 'prune', 'check', 'migrate'
] as const satisfies ReadonlyArray<keyof Storage>
const OF_EVENTS = ['erase', 'prune'] as const satisfies ReadonlyArray<keyof EventLog>
const OF_WEBHOOKS =
  ['insert', 'change', 'remove', 'claim', 'prune'] as const satisfies ReadonlyArray<keyof WebhookStore>

/** The file of a database, which must stay where it is: what is written into a deleted file is lost. */
export interface SqliteFile {
  /** The path, absolute and without links: SQLite puts the log beside the file itself. */
  path: string
  /** Called when a connection is opened: the write-ahead log may be a new one then. */
  opened (): void
  /**
   * `isWrite`: looked for once in a turn of the event loop, for all writes that are answered in it.
   * @throws StorageError `unavailable` if the file or its write-ahead log was deleted or replaced
   */
  requireSame (isWrite: boolean): void
}

/** Which file a path leads to: its device and inode; null: none. */
function identityOf (path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev} ${found.ino}`
}

/** Creates an empty file, unless there is one. @throws Error if there is no database in it, and `create` is false */
function ensureFile (filename: string, create: boolean): void {
  if (!create) {
    if (Number(statSync(filename, { throwIfNoEntry: false })?.size ?? 0) > 0) return
    throw new Error(`fastify-users: sqlite(): there is no database in ${filename}, and create is false`)
  }
  mkdirSync(dirname(filename), { recursive: true, mode: DIRECTORY_MODE })
  try {
    // SQLite gives the files beside it the mode of this one.
    closeSync(openSync(filename, 'ax', FILE_MODE))
  } catch (error) {
    // A file that is there is not opened: closing it would drop every lock that this process has on it.
    if (Object(error).code !== 'EEXIST') throw error
  }
}

/**
 * Opens the file of a database for watching.
 * @throws Error if it can't be created, or must not be
 */
export function openSqliteFile (filename: string, { create }: { create: boolean }): SqliteFile {
  ensureFile(filename, create)
  const path = realpathSync(filename)
  const file = identityOf(path)
  let log: string | null = null
  let isChecked = false

  return {
    path,
    opened () { log = null },
    requireSame (isWrite) {
      // For each write it was a tenth of the CPU time.
      if (isChecked && isWrite) return
      isChecked = false
      const found = identityOf(`${path}-wal`)
      // It is made by the first statement, and stays as long as a connection is open.
      log ??= found
      if (identityOf(path) === file && found === log) {
        isChecked = true
        setImmediate(() => { isChecked = false })
        return
      }
      throw new StorageError('unavailable', 'the database file was deleted or replaced: restart to open the new one')
    }
  }
}

/** Wraps an object: the named methods fail after their work if the file was replaced in the meantime. */
function acknowledging<Target extends object> (
  target: Target,
  names: ReadonlyArray<keyof Target & string>,
  { requireSame }: SqliteFile
): Target {
  const writes = names.map((name) => {
    const write = async (...args: unknown[]): Promise<unknown> => {
      const result: unknown = await Reflect.apply(Object(target[name]), target, args)
      requireSame(name !== 'check')
      return result
    }
    return [name, write] as const
  })
  return { ...target, ...Object.fromEntries(writes) }
}

/** The store, where no write is acknowledged that went into a file which is no longer there. */
export function onWatchedFile<Store extends Storage & { eventLog: EventLog, webhooks: WebhookStore }> (
  storage: Store,
  file: SqliteFile
): Store {
  return {
    ...acknowledging(storage, ACKNOWLEDGED, file),
    eventLog: acknowledging(storage.eventLog, OF_EVENTS, file),
    webhooks: acknowledging(storage.webhooks, OF_WEBHOOKS, file),
    async readUsers (...args) {
      // It opens the file again: another one at this path, or an empty one, would be read instead.
      file.requireSame(false)
      return storage.readUsers(...args)
    }
  }
}
