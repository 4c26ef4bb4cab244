// npm test: lint, types, build, package checks, and the tests that need nothing but Node.js.
// npm run test:ci, npm run test:nightly: the later levels of test/levels.mjs. --shard=2/3: the second of three parts.
// npm run test:coverage: what covers something of the level ci, with the coverage judged.
// npm test -- test/users/list.test.ts: that file alone, whole; what it needs is built if it is older than the sources.
// Options go to tap: npm test -- --reporter=base
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { filesOf, testPath } from '../test/levels.mjs'
import { notCovered } from './coverage-map.mjs'

process.chdir(join(import.meta.dirname, '..'))

const given = process.argv.slice(2)
const LEVEL = '--level='
const level = given.find((arg) => arg.startsWith(LEVEL))?.slice(LEVEL.length) ?? 'test'
const SHARD = '--shard='
const [part = 1, of = 1] = given.find((arg) => arg.startsWith(SHARD))?.slice(SHARD.length).split('/').map(Number) ?? []
const COVERAGE = '--coverage'
const named = given.filter((arg) => !arg.startsWith('-'))
const isOurs = (arg) => arg.startsWith(LEVEL) || arg.startsWith(SHARD) || arg === COVERAGE
const options = given.filter((arg) => arg.startsWith('-') && !isOurs(arg))
const isWhole = named.length === 0
const isCovered = isWhole && given.includes(COVERAGE)
/** What has to run of lib and adapters, in percent. */
const COVERAGE_MIN = { lines: 99.5, branches: 98 }

const running = new Set()

/** Starts a process that ends with this one. */
function start (command, args, settings) {
  const child = spawn(command, args, { ...settings })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => { for (const child of running) child.kill(signal) })
}

/** Runs scripts of package.json one after the other; what they print is shown where one fails. False: one failed. */
async function scripts (...names) {
  for (const name of names) {
    const begun = performance.now()
    const child = start('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += String(chunk)
      })
    }
    const [code] = await once(child, 'close')
    process.stderr.write(
      `${name}: ${code === 0 ? '' : 'failed after '}${((performance.now() - begun) / 1000).toFixed(1)} s\n`
    )
    if (code === 0) continue
    process.stderr.write(output)
    return false
  }
  return true
}

const filesIn = (path) =>
  statSync(path).isDirectory() ? readdirSync(path, { recursive: true }).map((name) => join(path, name)) : [path]

/** Whether a file is missing, or older than one of its sources. */
function isStale (file, sources) {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return sources.flatMap(filesIn).some((source) => statSync(source).mtimeMs > made)
}

/** The files to run, which import those of a group. tap runs files in the order of their names: they get numbers. */
function filesToRun (groups) {
  const directory = join('.build', 'test-groups')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  return groups.map((group, i) => {
    const name = group.length === 1 ? group[0].replaceAll('/', '-') : 'group.test.ts'
    const file = join(directory, `${String(i).padStart(3, '0')}-${name}`)
    const imports = group.map((each) => `await import(${JSON.stringify(relative(directory, testPath(each)))})\n`)
    writeFileSync(file, imports.join(''))
    return file
  })
}

/** Prints every assertion that failed, with what tap says of it, and the sum. */
function tellResult (text) {
  let failing = false
  for (const line of text.split('\n')) {
    if (/^\s*not ok /.test(line)) failing = true
    if (failing || line.startsWith('# {')) process.stdout.write(`${line}\n`)
    if (/^\s*\.\.\.$/.test(line)) failing = false
  }
}

/** Says which share of lib and adapters has run. False if it is less than it has to be. */
function isCoveredEnough () {
  const report = join('.tap', 'report', 'coverage-final.json')
  if (!existsSync(report)) {
    process.stdout.write('Coverage: there is no report of it\n')
    return false
  }
  const files = JSON.parse(readFileSync(report, 'utf8'))
  const counts = Object.values(files).map(({ path, s, b }) =>
    ({ path, lines: Object.values(s), branches: Object.values(b).flat() }))
  const shares = Object.entries(COVERAGE_MIN).map(([what, least]) => {
    const all = counts.flatMap((file) => file[what])
    const share = 100 * all.filter((n) => n > 0).length / Math.max(1, all.length)
    process.stdout.write(`Coverage: ${share.toFixed(2)} % of ${all.length} ${what}; at least ${least} %\n`)
    return { what, isEnough: share >= least }
  })
  for (const { what } of shares.filter(({ isEnough }) => !isEnough)) {
    for (const file of counts) {
      const missing = file[what].filter((n) => n === 0).length
      if (missing > 0) process.stdout.write(`  ${relative('.', file.path)}: ${missing} ${what} have not run\n`)
    }
  }
  return shares.every(({ isEnough }) => isEnough)
}

/** Says what was not tested, why, and what brings it. */
function tellSkipped (text, left, later) {
  const counts = new Map()
  for (const [, reason] of text.matchAll(/^\s*ok .* # SKIP (.+)$/gm)) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  for (const { path, reason } of left) {
    counts.set(`no coverage of ${path}, since ${reason}`, 0)
  }
  const lines = [
    ...later.map(({ level, count }) => `${count} files of tests: npm run test:${level}`),
    ...[...counts].map(([reason, n]) => `${n === 0 ? '' : `${n} ${n === 1 ? 'test' : 'tests'}: `}${reason}`)
  ]
  if (lines.length > 0) process.stdout.write(`\nNot tested here:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}

/** What runs beside the tests. */
let checks = Promise.resolve([true])
if (isWhole) {
  if (!await scripts('build', 'build:examples')) process.exit(1)
  // They look at the whole tree, so one part has them.
  if (part === 1 && !isCovered) checks = Promise.all([scripts('lint'), scripts('typecheck', 'check:package')])
} else {
  const sources = ['lib', 'adapters', 'cli', 'admin', 'scripts/bundle.mjs', 'package.json', 'tsconfig.build.json']
  if (isStale(join('dist', 'lib', 'index.js'), sources) && !await scripts('build')) process.exit(1)
  if (isStale(join('.build', 'examples', 'standalone', 'server.js'), ['examples', 'tsconfig.examples.json'])) {
    if (!await scripts('build:examples')) process.exit(1)
  }
}

const { groups, later } = filesOf(level, { covering: isCovered, shard: { part, of } })
const directory = mkdtempSync(join(tmpdir(), 'fastify-users-test-'))
const asked = options.find((option) => option.startsWith('--output-file='))
const report = asked?.slice('--output-file='.length) ?? join(directory, 'report.tap')
const left = isCovered ? notCovered() : []
const coverage = isCovered
  ? ['--allow-incomplete-coverage', '--coverage-report=json', '--coverage-map=scripts/coverage-map.mjs']
  : ['--disable-coverage']
// tap's own reports move the cursor about: what is read later is the failures and the sum.
// One file runs without tap's own program, which takes longer to begin than most files do.
const isAlone = named.length === 1 && options.length === 0 && statSync(named[0], { throwIfNoEntry: false })?.isFile()
const isPlain = isAlone || (!process.stdout.isTTY && !options.some((option) => option.startsWith('--reporter')))
const reporter = isPlain ? ['--reporter=silent'] : []
const tap = [
  join('node_modules', '.bin', 'tap'),
  `--output-file=${report}`,
  // One more than cores: some tests wait for a time limit.
  `--jobs=${availableParallelism() + 1}`,
  ...coverage,
  ...reporter,
  ...options,
  ...isWhole ? filesToRun(groups) : named
]
// Node.js 22 and later strip types themselves.
const isOld = Number.parseInt(process.versions.node, 10) < 22
const loader = `${process.env.NODE_OPTIONS ?? ''} --import=${pathToFileURL(join('scripts', 'strip-types.mjs'))}`
const env = { ...process.env, ...isWhole && { TEST_LEVEL: level }, ...isOld && { NODE_OPTIONS: loader } }
// A report of an earlier run says nothing of this one.
rmSync(join('.tap', 'report'), { recursive: true, force: true })

/** Runs the one file; its output is the report. */
async function runAlone () {
  const alone = start(process.execPath, [join('test', 'run.mjs'), process.execPath, ...named], {
    stdio: ['ignore', openSync(report, 'w'), 'inherit'], env: { ...env, TAP_TIMEOUT: '1800' }
  })
  const [code] = await once(alone, 'exit')
  // Without tap's program a file ends with 0 whatever failed.
  return /^not ok/m.test(readFileSync(report, 'utf8')) ? 1 : code
}

async function runTap () {
  const child = start(process.execPath, [join('test', 'run.mjs'), ...tap], { stdio: 'inherit', env })
  return (await once(child, 'exit'))[0]
}

const [code, passed] = await Promise.all([isAlone ? runAlone() : runTap(), checks])
// Where tap itself could not begin there is none.
const text = existsSync(report) ? readFileSync(report, 'utf8') : ''
if (isPlain) tellResult(text)
const isEnough = !isCovered || isCoveredEnough()
tellSkipped(text, left, isWhole ? later : [])
rmSync(directory, { recursive: true })
process.exit(passed.every(Boolean) && isEnough ? code ?? 1 : 1)
