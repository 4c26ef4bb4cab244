import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Whether a package with an SQLite driver is there and opens a database, tried in a process of its own: one of another Node.js may end that. */
export function loads (name) {
  const open = `const driver = require('${name}'); new (driver.Database ?? driver)(':memory:').close()`
  return spawnSync(process.execPath, ['-e', open], { cwd: ROOT, stdio: 'ignore' }).status === 0
}
