import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
 * Has this process and its children make their temporary files in a new directory: in memory if there is enough of it,
 * where a flush costs nothing. `files()` lists what is in it, `remove()` removes it.
 */
export function useTemporaryDirectory () {
  const place = process.env.TMPDIR === undefined && isUsable() ? IN_MEMORY : tmpdir()
  const directory = mkdtempSync(join(place, 'fastify-users-'))
  // PostgreSQL runs as another user.
  chmodSync(directory, 0o755)
  process.env.TMPDIR = directory
  return {
    // tsx and Node.js keep what they have compiled there.
    files: () => readdirSync(directory).filter((name) => !/^(?:tsx-|node-compile-cache)/.test(name)),
    remove: () => rmSync(directory, { recursive: true, force: true })
  }
}
