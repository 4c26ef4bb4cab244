import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
const NEEDED_BYTES = 4 * 2 ** 30

/** Whether this machine has a file system in memory with enough space. Containers often have one of 64 MB. */
function isUsable () {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}

/**
 * Has this process and its children make their temporary files in memory, where a flush costs nothing: the conformance
 * kit makes 400 databases for each store. Without enough of it, or if TMPDIR is set, nothing changes. Returns a
 * function that removes the files.
 */
export function useMemoryDirectory () {
  if (process.env.TMPDIR !== undefined || !isUsable()) return () => {}
  const directory = mkdtempSync(join(IN_MEMORY, 'fastify-users-'))
  // PostgreSQL runs as another user.
  chmodSync(directory, 0o755)
  process.env.TMPDIR = directory
  return () => rmSync(directory, { recursive: true, force: true })
}
