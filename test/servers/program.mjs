import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'

/**
 * The path of a program: in the directories of PATH, or in the `sbin` beside a `bin` of it, which Debian leaves out of
 * a user's PATH. `undefined` if the machine has none.
 */
export function programPath (name) {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '')
  const beside = directories
    .filter((directory) => basename(directory) === 'bin')
    .map((directory) => join(dirname(directory), 'sbin'))
  return [...directories, ...beside].map((directory) => join(directory, name)).find((path) => existsSync(path))
}
