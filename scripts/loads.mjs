import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/**
 * True if a driver of SQLite is installed and opens a database. It is tried in a new process, which a binary for
 * another version of Node.js may crash.
 */
export function loads (name) {
  const open = `const driver = require('${name}'); new (driver.Database ?? driver)(':memory:').close()`
  return spawnSync(process.execPath, ['-e', open], { cwd: ROOT, stdio: 'ignore' }).status === 0
}
