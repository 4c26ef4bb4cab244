// Test files of the suite on a server: those tests of them that are about the store.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '..', '..')
// One file at a time: a burst of a race on a server that others use too would be refused as an overload.
const JOBS = 1
const LINE = /^ {4}(ok|not ok) \d+ - (.*\bpostgres\b.*)$/gm
/** What tap says of an assertion that failed. */
const FAILURE = /^ {8,}not ok [^]*?^ *\.\.\.$/gm
const FAILURES_MAX = 10
const FAILURE_LENGTH = 1000

/** Runs files, or all of directories, and counts their tests on PostgreSQL. */
export async function suite ({ connection, prefix }, paths, say) {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-cluster-'))
  const report = join(directory, 'report.tap')
  const loader = `--import=${pathToFileURL(join(ROOT, 'scripts', 'strip-types.mjs'))}`
  const tap = ['--disable-coverage', '--reporter=silent', `--output-file=${report}`, `--jobs=${JOBS}`, '--timeout=1800']
  const args = [join('test', 'run.mjs'), join('node_modules', '.bin', 'tap'), ...tap, ...paths]
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${loader}`,
      PG_URL: connection,
      STORE: 'postgres',
      TEST_LEVEL: 'ci',
      TEST_SCHEMAS: prefix
    }
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { output += chunk })
  await once(child, 'close')
  const text = await readFile(report, 'utf8').catch(() => '')
  await rm(directory, { recursive: true })
  const lines = [...text.matchAll(LINE)].filter(([line]) => !line.includes('# SKIP'))
  if (lines.length === 0) throw new Error(`no test of ${paths.join(', ')} has run:\n${output.slice(-2000)}`)
  const failed = lines.filter(([, verdict]) => verdict === 'not ok')
  for (const [, , name] of failed) say(`failed: ${name.replace(/ # time=.*$/, '')}`)
  const reasons = failed.length === 0 ? [] : text.match(FAILURE) ?? []
  for (const reason of reasons.slice(0, FAILURES_MAX)) say(reason.slice(0, FAILURE_LENGTH))
  return { passed: lines.length - failed.length, failed: failed.length }
}
