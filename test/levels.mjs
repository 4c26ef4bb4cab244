// Which test files run when, and which of them share a process.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The levels of the suite; each includes those before it. `test` is for everybody, with Node.js alone. `ci`
 * also needs a browser, poolers and compiled drivers, and judges the coverage. `nightly` looks for what is rare.
 */
export const LEVELS = ['test', 'ci', 'nightly']

/** The files that a later level adds, by the beginning of their paths. For parts of a file: `helpers/level.ts`. */
const LATER = {
  ci: [
    'acceptance/', 'adapters/conformance-host', 'adapters/conformance-poor', 'adapters/counting',
    'adapters/event-positions', 'adapters/histories',
    'adapters/hostile', 'adapters/kit-mistakes', 'adapters/kit-processes', 'adapters/kit.test', 'adapters/locked-rows',
    'adapters/migrations.test', 'adapters/model', 'adapters/standbys', 'admin/', 'cli/', 'examples/',
    'hosts/combinations', 'operator', 'http/unavailable-database', 'transfer/import-verdicts', 'transfer/longest-users',
    'webhooks/processes'
  ],
  nightly: ['adapters/kit-runners', 'cluster/', 'faults']
}

/**
 * Files with a process of their own, by the beginning of their paths: they take long, or what they do to the process
 * would reach others. Starting a process and loading the package takes longer than most of the others. In the order in
 * which they begin: what takes longest first, so that nothing runs by itself at the end.
 */
const ALONE = [
  'adapters/conformance', 'acceptance/', 'adapters/kit', 'adapters/model', 'adapters/histories', 'adapters/standbys',
  'adapters/hostile', 'adapters/migrations', 'examples/', 'hosts/', 'adapters/counting', 'faults', 'transactions/',
  'http/unavailable-database', 'operator', 'users/races', 'adapters/memory', 'adapters/sqlite-temporary', 'docs.test',
  'http/limits'
]
/** How many files share a process, by the beginning of their paths. */
const GROUP_SIZES = { 'admin/': 4, 'cli/': 4, '': 12 }

const beginsWith = (file, beginnings) => beginnings.some((each) => file.startsWith(each))

/** The level that a test file belongs to; its path is relative to this directory. */
const levelOf = (file) => LEVELS.findLast((level) => beginsWith(file, LATER[level] ?? [])) ?? LEVELS[0]

/** True if a level runs what belongs to another one. */
export const includes = (level, other) => LEVELS.indexOf(other) <= LEVELS.indexOf(level)

/**
 * The test files of a level, relative to this directory, as lists of those that share a process; and for each later
 * level the number of files that only it runs. In the order in which they begin.
 */
export function filesOf (level) {
  const all = readdirSync(import.meta.dirname, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
  const files = all.filter((file) => includes(level, levelOf(file)))
  const alone = ALONE.flatMap((beginning) => files.filter((file) => file.startsWith(beginning))).map((file) => [file])
  let shared = files.filter((file) => !beginsWith(file, ALONE))
  const groups = Object.entries(GROUP_SIZES).flatMap(([beginning, size]) => {
    const together = shared.filter((file) => file.startsWith(beginning))
    shared = shared.filter((file) => !file.startsWith(beginning))
    return Array.from({ length: Math.ceil(together.length / size) }, (_, i) => together.slice(i * size, (i + 1) * size))
  })
  const later = LEVELS.filter((each) => !includes(level, each))
    .map((each) => ({ level: each, count: all.filter((file) => levelOf(file) === each).length }))
  return { groups: [...alone, ...groups], later }
}

export const testPath = (file) => join('test', file)
