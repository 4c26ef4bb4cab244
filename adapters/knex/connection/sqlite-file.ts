import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorageError } from '../../../lib/core/storage-error.ts'
import type { Storage } from '../../../lib/core/storage.ts'

// The file has addresses and names: nobody but its owner reads it, unless whoever made it has decided otherwise.
const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

const WRITES = [
  'createUser', 'updateUser', 'deleteUser', 'createApiKey', 'rotateApiKey', 'revokeApiKey', 'touchApiKey',
  'pruneIdempotency', 'check', 'migrate'
] as const satisfies ReadonlyArray<keyof Storage>

/** The file of a database, which must stay where it is: what is written into a deleted file is lost. */
export interface SqliteFile {
  /** Called when a connection is opened: the write-ahead log may be a new one then. */
  opened (): void
  /** @throws StorageError `unavailable` if the file or its write-ahead log was deleted or replaced */
  requireSame (): void
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
  // SQLite gives the files beside it the mode of this one.
  closeSync(openSync(filename, 'a', FILE_MODE))
}

/**
 * Opens the file of a database for watching.
 * @throws Error if it can't be created, or must not be
 */
export function openSqliteFile (filename: string, { create }: { create: boolean }): SqliteFile {
  ensureFile(filename, create)
  const file = identityOf(filename)
  let log: string | null = null
  let isChecked = false

  return {
    opened () { log = null },
    requireSame () {
      // Once for all writes that are answered in a turn of the event loop: for each, it was a tenth of the CPU time.
      if (isChecked) return
      const found = identityOf(`${filename}-wal`)
      // It is made by the first statement, and stays as long as a connection is open.
      log ??= found
      if (identityOf(filename) === file && found === log) {
        isChecked = true
        setImmediate(() => { isChecked = false })
        return
      }
      throw new StorageError('unavailable', 'the database file was deleted or replaced: restart to open the new one')
    }
  }
}

/** The store, where no write is acknowledged that went into a file which is no longer there. */
export function onWatchedFile<Store extends Storage> (storage: Store, { requireSame }: SqliteFile): Store {
  const watched = WRITES.map((name) => {
    const write = async (...args: unknown[]): Promise<unknown> => {
      const result: unknown = await Reflect.apply(storage[name], storage, args)
      requireSame()
      return result
    }
    return [name, write] as const
  })
  return { ...storage, ...Object.fromEntries(watched) }
}
