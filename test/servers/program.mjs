import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'

/** Where the machine has a program: in the directories of PATH, and, for servers, in the `sbin` beside a `bin` of it, which is outside of a user's PATH on Debian. */
export function programPath (name) {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '')
  const beside = directories.filter((directory) => basename(directory) === 'bin').map((directory) => join(dirname(directory), 'sbin'))
  return [...directories, ...beside].map((directory) => join(directory, name)).find((path) => existsSync(path))
}
