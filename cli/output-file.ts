import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { lstat, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal, UsageError } from './failure.ts'

// Users are personal data.
const FILE_MODE = 0o600

/**
 * Refuses to replace anything but a regular file: replacing a device such as /dev/null would break the machine.
 * @throws UsageError
 */
export async function requireReplaceable (path: string): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (found?.isFile() === false) {
    throw new UsageError('--output must be a regular file, or a new path: a link, a device, a pipe or a ' +
      'directory is not replaced; - is standard output')
  }
}

/** Writes a file that appears when it is whole. @throws UsageError, Refusal */
export async function writeFile (path: string, texts: AsyncIterable<string> | Iterable<string>): Promise<void> {
  // A file or link that is there already would keep its mode, or lead elsewhere.
  const partial = `${path}.${randomBytes(6).toString('hex')}.partial`
  try {
    await pipeline(Readable.from(texts), createWriteStream(partial, { flags: 'wx', mode: FILE_MODE }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    const { code, syscall } = Object(error)
    const problem = `the file of --output cannot be written (${code})`
    // No file can be made at that path. Any other problem is not one of the command line, such as a full disk.
    if (syscall === 'open') throw new UsageError(problem)
    if (syscall !== undefined) throw new Refusal(problem)
    throw error
  }
}
