// Which test files run when, and which of them share a process.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The levels of the suite; each includes those before it. `test` is for everybody, with Node.js alone. `ci`
 * also needs a browser, poolers and compiled drivers. `nightly` looks for what is rare.
 */
export const LEVELS = ['test', 'ci', 'nightly']

/** The files that a later level adds, by the beginning of their paths. For parts of a file: `helpers/level.ts`. */
const LATER = {
  ci: [
    'acceptance/', 'adapters/conformance-host', 'adapters/conformance-poor', 'adapters/counting',
    'adapters/event-positions', 'adapters/histories',
    'adapters/hostile', 'adapters/kit-mistakes', 'adapters/kit-processes', 'adapters/kit.test', 'adapters/locked-rows',
    'adapters/migrations.test', 'adapters/model', 'adapters/standbys', 'admin/', 'cli/', 'examples/',
    'hosts/combinations', 'operator', 'http/unavailable-database', 'transfer/import-verdicts',
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
  'adapters/conformance-postgres', 'docs.test', 'operator', 'acceptance/tarball', 'adapters/kit-processes',
  'adapters/conformance', 'examples/adapters', 'adapters/kit.test', 'adapters/histories', 'hosts/combinations',
  'adapters/kit', 'acceptance/', 'adapters/standbys', 'adapters/model', 'adapters/hostile', 'adapters/counting.test',
  'faults', 'http/unavailable-database', 'adapters/sqlite-temporary', 'http/limits'
]
/** How many files share a process, by the beginning of their paths. */
const GROUP_SIZES = { 'admin/': 6, 'cli/': 6, 'examples/': 5, '': 12 }

/** Files that cover nothing: they run the product in processes of its own, or stores that are not ours. */
const COVERS_NOTHING = [
  'acceptance/', 'adapters/kit-', 'admin/', 'docs', 'examples/', 'operator'
]

const beginsWith = (file, beginnings) => beginnings.some((each) => file.startsWith(each))

/** The level that a test file belongs to; its path is relative to this directory. */
const levelOf = (file) => LEVELS.findLast((level) => beginsWith(file, LATER[level] ?? [])) ?? LEVELS[0]

/** True if a level runs what belongs to another one. */
export const includes = (level, other) => LEVELS.indexOf(other) <= LEVELS.indexOf(level)

/**
 * The test files of a level, relative to this directory, as lists of those that share a process; and for each later
 * level the number of files that only it runs. In the order in which they begin. `covering`: without those that cover
 * nothing. `shard`: one of so many parts that take about as long, from 1.
 */
export function filesOf (level, { covering = false, shard = { part: 1, of: 1 } } = {}) {
  const all = readdirSync(import.meta.dirname, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
  const files = all.filter((file) => includes(level, levelOf(file)) && !(covering && beginsWith(file, COVERS_NOTHING)))
  const alone = [...new Set(ALONE.flatMap((beginning) => files.filter((file) => file.startsWith(beginning))))]
    .map((file) => [file])
  let shared = files.filter((file) => !beginsWith(file, ALONE))
  const groups = Object.entries(GROUP_SIZES).flatMap(([beginning, size]) => {
    const together = shared.filter((file) => file.startsWith(beginning))
    shared = shared.filter((file) => !file.startsWith(beginning))
    // Files of one folder take about as long, so each goes to another group.
    const count = Math.ceil(together.length / size)
    return Array.from({ length: count }, (_, i) => together.filter((_file, j) => j % count === i))
  })
  const later = LEVELS.filter((each) => !includes(level, each))
    .map((each) => ({ level: each, count: all.filter((file) => levelOf(file) === each).length }))
  const isHere = (_group, i) => i % shard.of === shard.part - 1
  return { groups: [...alone, ...groups].filter(isHere), later }
}

export const testPath = (file) => join('test', file)
