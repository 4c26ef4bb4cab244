// Test files of the suite on a server, with PostgreSQL as their only store.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const LINE = /^(ok|not ok) \d+ - (.*)$/gm
/** What tap says of an assertion that failed. */
const FAILURE = /^ +not ok [^]*?^ *\.\.\.$/gm
const FAILURES_MAX = 10
const FAILURE_LENGTH = 1000

const filesIn = (path) => statSync(join(ROOT, path)).isDirectory()
  ? readdirSync(join(ROOT, path)).filter((name) => name.endsWith('.test.ts')).sort().map((name) => join(path, name))
  : [path]

/**
 * Runs files, or all of directories, one after the other in a process, and counts their tests. In one process, since a
 * burst of a race on code that has not run yet can be refused as an overload.
 */
export async function suite ({ connection, prefix }, paths, say) {
  const file = join(ROOT, '.build', 'cluster', 'all.test.ts')
  mkdirSync(dirname(file), { recursive: true })
  const imports = paths.flatMap(filesIn).map((path) => relative(dirname(file), join(ROOT, path)))
  writeFileSync(file, imports.map((path) => `await import(${JSON.stringify(path)})\n`).join(''))
  const loader = ['--import', './scripts/strip-types.mjs']
  const child = spawn(process.execPath, [join('test', 'run.mjs'), process.execPath, ...loader, file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PG_URL: connection,
      STORE: 'postgres',
      TAP_TIMEOUT: '3600',
      TEST_LEVEL: 'ci',
      TEST_SCHEMAS: prefix
    }
  })
  let text = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => { text += chunk })
  child.stderr.setEncoding('utf8').on('data', (chunk) => { errors += chunk })
  const [code] = await once(child, 'close')
  rmSync(file)
  const lines = [...text.matchAll(LINE)].filter(([line]) => !line.includes('# SKIP'))
  if (lines.length === 0) throw new Error(`no test of ${paths.join(', ')} has run:\n${errors.slice(-2000)}`)
  const failed = lines.filter(([, verdict]) => verdict === 'not ok')
  for (const [, , name] of failed) say(`failed: ${name.replace(/ # time=.*$/, '')}`)
  const reasons = failed.length === 0 ? [] : text.match(FAILURE) ?? []
  for (const reason of reasons.slice(0, FAILURES_MAX)) say(reason.slice(0, FAILURE_LENGTH))
  // What no test says: a file that can't be read to its end, or an error behind the last test.
  const isBroken = code !== 0 && failed.length === 0
  if (isBroken) say(`failed: the process ended with ${code}:\n${errors.slice(-FAILURE_LENGTH)}`)
  return { passed: lines.length - failed.length, failed: failed.length + Number(isBroken) }
}
