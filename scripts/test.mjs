// npm test: lint, build, types, package checks, examples, and every test with its coverage.
// npm test -- test/list.test.ts: that file alone, in seconds; what it needs is built if it is older than the sources.
// Options go to tap: npm test -- --reporter=base
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loads } from './loads.mjs'

process.chdir(join(import.meta.dirname, '..'))

/** What the coverage is not taken of, with the reason where it is this machine's. */
function uncovered () {
  const built = ['dist/**', '.build/examples/**', '.build/package/**', 'examples/**', 'test/**', 'scripts/**']
  const list = built.map((path) => ({ path }))
  if (!isBuiltin('node:sqlite')) {
    for (const name of ['node-sqlite-client', 'node-sqlite']) {
      list.push({ path: `adapters/knex/drivers/${name}.ts`, reason: 'node:sqlite needs Node.js 22.13 or later' })
    }
  }
  for (const name of ['better-sqlite3', 'sqlite3']) {
    if (loads(name)) continue
    list.push({ path: `adapters/knex/drivers/${name}.ts`, reason: `${name} is not installed: npm run drivers` })
  }
  return list
}

async function run (command, args, env) {
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32'
  })
  const [code] = await once(child, 'exit')
  return code ?? 1
}

/** Runs scripts of package.json one after the other; what they print is shown where one fails. */
async function scripts (...names) {
  for (const name of names) {
    const begun = performance.now()
    const child = spawn('npm', ['run', '--silent', name], {
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32'
    })
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
    process.exit(1)
  }
}

const filesIn = (path) =>
  statSync(path).isDirectory() ? readdirSync(path, { recursive: true }).map((name) => join(path, name)) : [path]

/** Whether a file is not there, or older than one of its sources. */
function isStale (file, sources) {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return sources.flatMap(filesIn).some((source) => statSync(source).mtimeMs > made)
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

/** Says what was not tested on this machine, why, and what brings it. */
function tellSkipped (text, left) {
  const counts = new Map()
  for (const [, reason] of text.matchAll(/^\s*ok .* # SKIP (.+)$/gm)) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  for (const { path, reason } of left) {
    if (reason !== undefined) counts.set(`no coverage of ${path}, since ${reason}`, 0)
  }
  if (counts.size === 0) return
  process.stdout.write('\nNot tested here:\n')
  for (const [reason, count] of counts) {
    process.stdout.write(`  ${count === 0 ? '' : `${count} ${count === 1 ? 'test' : 'tests'}: `}${reason}\n`)
  }
}

const given = process.argv.slice(2)
const files = given.filter((arg) => !arg.startsWith('-'))
const options = given.filter((arg) => arg.startsWith('-'))
const all = files.length === 0

if (all) {
  await scripts('drivers:prebuilt')
  await Promise.all([scripts('lint'), scripts('build', 'build:examples')])
  await Promise.all([scripts('typecheck'), scripts('check:package')])
} else {
  const sources = ['lib', 'adapters', 'cli', 'admin', 'scripts/bundle.mjs', 'package.json', 'tsconfig.build.json']
  if (isStale(join('dist', 'lib', 'index.js'), sources)) await scripts('build')
  if (isStale(join('.build', 'examples', 'standalone', 'server.js'), ['examples', 'tsconfig.examples.json'])) {
    await scripts('build:examples')
  }
}

const directory = mkdtempSync(join(tmpdir(), 'fastify-users-test-'))
const asked = options.find((option) => option.startsWith('--output-file='))
const report = asked?.slice('--output-file='.length) ?? join(directory, 'report.tap')
const left = all ? uncovered() : []
const coverage = all ? left.map(({ path }) => `--coverage-exclude=${path}`) : ['--disable-coverage']
// tap's own reports move the cursor about: what is read later is the failures and the sum.
const isPlain = !process.stdout.isTTY && !options.some((option) => option.startsWith('--reporter'))
const reporter = isPlain ? ['--reporter=silent'] : []
const tap = [
  join('node_modules', '.bin', 'tap'),
  `--output-file=${report}`,
  ...coverage,
  ...reporter,
  ...options,
  ...files
]
// Node.js 22 and later strip types themselves.
const loader =
  Number.parseInt(process.versions.node, 10) < 22
    ? {
        NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${pathToFileURL(join('scripts', 'strip-types.mjs'))}`
      }
    : {}
const code = await run(process.execPath, [join('test', 'run.mjs'), ...tap], loader)
// Where tap itself could not begin there is none.
const text = existsSync(report) ? readFileSync(report, 'utf8') : ''
if (isPlain) tellResult(text)
tellSkipped(text, left)
rmSync(directory, { recursive: true })
process.exit(code)
