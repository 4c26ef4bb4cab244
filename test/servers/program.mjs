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

/**
 * The path of the browser: without windows, if the machine has that, since it takes a third less of the processor.
 * Every night the whole one. `undefined` if the machine has none.
 */
export function browserPath () {
  const names = ['chromium-headless-shell', 'chromium', 'google-chrome']
  if (process.env.TEST_LEVEL === 'nightly') names.push(names.shift())
  return names.map(programPath).find((path) => path !== undefined)
}
