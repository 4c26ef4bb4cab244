import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsersError } from '../core/errors.ts'

/** Where a text stands in the file. */
export interface Stretch { position: number, length: number }

/** A file for what would take too much memory. */
export interface SpillFile {
  /** Adds a text; from then on it can be read. */
  add (text: string): Promise<Stretch>
  read (stretch: Stretch): Promise<string>
  close (): Promise<void>
}

// So many bytes are written together.
const PENDING_MAX = 64 * 1024

/** What the file system refuses, as an error that says what to do. */
async function used<Value> (work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (error) {
    const problem = `fastify-users: the temporary file of a dry run cannot be used (${Object(error).code})`
    const cause = new Error(`${problem}: set TMPDIR to a writable directory with enough space`, { cause: error })
    throw new UsersError('internal', { cause })
  }
}

/** Makes a file that only this process can read, and that is gone with it. It throws UsersError. */
export async function openSpillFile (): Promise<SpillFile> {
  const path = join(tmpdir(), `fastify-users-${randomUUID()}`)
  const file = await used(open(path, 'wx+', 0o600))
  // Where an open file can be removed, it has no name any more. Elsewhere it is removed at the end.
  const isNameless = await rm(path).then(() => true, () => false)
  let pending: Buffer[] = []
  // The positions at which the pending bytes begin and end.
  let [begin, end] = [0, 0]
  let writing = Promise.resolve()

  /** Writes what is pending, behind all that is being written. */
  function flush (): Promise<void> {
    if (begin === end) return writing
    const bytes = Buffer.concat(pending)
    pending = []
    begin = end
    writing = writing.then(() => used(file.appendFile(bytes)))
    // Whoever awaits it gets its error.
    writing.catch(() => {})
    return writing
  }

  return {
    async add (text) {
      const bytes = Buffer.from(text)
      const stretch = { position: end, length: bytes.length }
      pending.push(bytes)
      end += bytes.length
      if (end - begin >= PENDING_MAX) await flush()
      return stretch
    },

    async read ({ position, length }) {
      // Bytes that are not pending any more may still be on their way into the file.
      await (position + length > begin ? flush() : writing)
      const { buffer } = await used(file.read(Buffer.alloc(length), 0, length, position))
      return buffer.toString('utf8')
    },

    async close () {
      await writing.catch(() => {})
      await file.close()
      if (!isNameless) await rm(path, { force: true })
    }
  }
}
