import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, resolve } from 'node:path'
import { isStorageError, StorageError } from '../../../lib/storage/storage-error.ts'
import type { Storage } from '../../../lib/storage/storage.ts'

// The file has addresses and names: only its owner may read it, unless whoever created it decided otherwise.
const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

/** The file of a database, which must stay where it is: anything written to a deleted file is lost. */
export interface SqliteFile {
  /** The absolute path without symbolic links: SQLite puts the log next to the real file. */
  path: string
  /** Called when a connection is opened: the write-ahead log may be a new one. */
  opened (): void
  /**
   * `isWrite`: check only once per turn of the event loop, for all writes that are answered in that turn.
   * @throws StorageError `unavailable` if the file was deleted, replaced or cut, or its write-ahead log deleted or
   * replaced
   */
  requireSame (isWrite: boolean, bytesOf: BytesOf): Promise<void>
}

/** The size of the database, as SQLite counts it, in bytes. */
export type BytesOf = () => Promise<number>

/** The account of this process, which an operator gives rights to. */
function account (): string {
  try {
    const { username, uid } = userInfo()
    return `${username} (uid ${uid})`
  } catch {
    // A container may run under a number without a name.
    return `with the uid ${process.getuid?.()}`
  }
}

const unwritable = (path: string, code: unknown): string =>
  `the account ${account()} can't write the database file ${path} (${code}): make it the owner of the file and its ` +
  'directory, on a disk that is mounted for writing'

/** What an operator can mend of a file, with its path. */
const FAULTS: ReadonlyArray<[code: RegExp, message: (path: string, code: string) => string]> = [
  [/^SQLITE_BUSY/, (path, code) =>
    `another process has locked the database file ${path} (${code}): stop what holds the lock, such as a backup or a ` +
    'shell with an open transaction'],
  [/^SQLITE_(?:READONLY|CANTOPEN|PERM)/, unwritable],
  [/^SQLITE_FULL/, (path, code) => `the disk of the database file ${path} is full (${code}): make room on it`]
]

/** The error of a storage with the path of its file, where that helps an operator. */
function withPath (error: unknown, path: string): unknown {
  if (!isStorageError(error)) return error
  const { code, driverCode = '' } = error
  const message = FAULTS.find(([each]) => each.test(driverCode))?.[1](path, driverCode)
  return message === undefined ? error : new StorageError(code, message, { driverCode })
}

/** The device and inode of the file at a path, and its size; `null` if there is none. */
function fileAt (path: string): { identity: string | null, size: number } {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined
    ? { identity: null, size: 0 }
    : { identity: `${found.dev} ${found.ino}`, size: Number(found.size) }
}

/**
 * True for a file that became smaller by `VACUUM`. One that was cut, or that something else was written into, has less
 * than half of the database: what was written since may still be in the log.
 */
async function isVacuumed (size: number, bytesOf: BytesOf): Promise<boolean> {
  // SQLite may have to read the file for it, and can fail.
  return size > 0 && 2 * size >= await bytesOf().catch(() => Infinity)
}

export const isDirectory = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

/**
 * Creates an empty file if there is none.
 * @throws Error if there is a directory, or if `create` is false and the file has no database
 */
function ensureFile (filename: string, create: boolean): void {
  if (isDirectory(filename)) {
    throw new Error(`fastify-users: sqlite(): ${resolve(filename)} is a directory: name a file in it`)
  }
  if (!create) {
    if (Number(statSync(filename, { throwIfNoEntry: false })?.size ?? 0) > 0) return
    throw new Error(`fastify-users: sqlite(): there is no database in ${filename}, and create is false`)
  }
  try {
    mkdirSync(dirname(filename), { recursive: true, mode: DIRECTORY_MODE })
    // SQLite gives the files beside it the mode of this one.
    closeSync(openSync(filename, 'ax', FILE_MODE))
  } catch (error) {
    // Do not open an existing file: closing it would drop every lock that this process has on it.
    const { code } = Object(error)
    if (code === 'EEXIST' && existsSync(filename)) return
    const path = resolve(filename)
    const isRefused = ['EACCES', 'EPERM', 'EROFS'].includes(code)
    const message = isRefused ? unwritable(path, code) : `the database file ${path} can't be made (${code})`
    throw new Error(`fastify-users: sqlite(): ${message}`, { cause: error })
  }
}

/**
 * Opens the file of a database for watching.
 * @throws Error if it can't be created, or has no database and `create` is false
 */
export function openSqliteFile (filename: string, { create }: { create: boolean }): SqliteFile {
  ensureFile(filename, create)
  const path = realpathSync(filename)
  const file = fileAt(path)
  let log: string | null = null
  let isChecked = false

  return {
    path,
    opened () { log = null },
    async requireSame (isWrite, bytesOf) {
      // A check for each write took a tenth of the CPU time.
      if (isChecked && isWrite) return
      isChecked = false
      const foundLog = fileAt(`${path}-wal`).identity
      // The log is created by the first statement, and stays while a connection is open.
      log ??= foundLog
      const { identity, size } = fileAt(path)
      if (identity === file.identity && foundLog === log && (size >= file.size || await isVacuumed(size, bytesOf))) {
        file.size = size
        isChecked = true
        setImmediate(() => { isChecked = false })
        return
      }
      throw new StorageError('unavailable', 'the database file was deleted or replaced: to open one that is in its ' +
        'place, stop the process, delete the -wal and -shm of the old one, and start it again')
    }
  }
}

/**
 * Wraps the store so that it does not acknowledge a write to a file that was deleted or replaced. `reopen`: closes the
 * connection, so that the next one is opened anew.
 */
export function onWatchedFile<Store extends Storage> (
  storage: Store, { path, requireSame }: SqliteFile, bytesOf: BytesOf, reopen: () => void
): Store {
  /** Fails after the work if the file was replaced in the meantime. Errors name the file. */
  async function acknowledged<Value> (isWrite: boolean, work: () => Promise<Value>): Promise<Value> {
    const result = await work().catch(async (error) => {
      const isReadOnly = isStorageError(error) && error.driverCode?.startsWith('SQLITE_READONLY') === true
      // SQLite calls a file damaged that was cut.
      if (isReadOnly || (isStorageError(error) && error.code === 'fault')) await requireSame(false, bytesOf)
      // A connection that was opened when the file could only be read can never write.
      if (isReadOnly) reopen()
      throw withPath(error, path)
    })
    await requireSame(isWrite, bytesOf)
    return result
  }

  const { users, log } = storage
  return {
    ...storage,
    open: (options) => acknowledged(options?.migrate === true, () => storage.open(options)),
    commit: (units) => acknowledged(true, () => storage.commit(units)),
    log: {
      ...log,
      rewrite: (rewrite, limit) => acknowledged(true, () => log.rewrite(rewrite, limit)),
      prune: (before, limit) => acknowledged(true, () => log.prune(before, limit))
    },
    users: {
      ...users,
      async walk (...args) {
        // It opens the file again, and would read whatever file is now at this path, or an empty one.
        await requireSame(false, bytesOf)
        return users.walk(...args)
      }
    }
  }
}
