import { randomBytes } from 'node:crypto'
import { createWriteStream, openSync, rmSync } from 'node:fs'
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

// Each ends the process where nobody listens.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Removes the file if a signal ends the process. Returns a function that gives the signals back. */
function removeAtSignals (path: string): () => void {
  function close (): void {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  function end (signal: NodeJS.Signals): void {
    rmSync(path, { force: true })
    close()
    // The shell that waits learns of the signal.
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.on(signal, end)
  return close
}

/** Writes a file that appears when it is whole. @throws UsageError, Refusal */
export async function writeFile (path: string, texts: AsyncIterable<string> | Iterable<string>): Promise<void> {
  // A file or link that is there already would keep its mode, or lead elsewhere.
  const partial = `${path}.${randomBytes(6).toString('hex')}.partial`
  const close = removeAtSignals(partial)
  try {
    // Opened synchronously, so that no signal comes between the file and its removal.
    const fd = openSync(partial, 'wx', FILE_MODE)
    await pipeline(Readable.from(texts), createWriteStream(partial, { fd }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    const { code, syscall } = Object(error)
    const problem = code === 'ENOENT'
      ? 'the directory of --output does not exist'
      : `the file of --output cannot be written (${code})`
    // No file can be made at that path. Any other problem is not one of the command line, such as a full disk.
    if (syscall === 'open') throw new UsageError(problem)
    if (syscall !== undefined) throw new Refusal(problem)
    throw error
  } finally {
    close()
  }
}
