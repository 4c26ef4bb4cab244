// The service as it is installed in production: scripts/production.mjs, and the unit of systemd.
import { execFile, spawnSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'tap'
import { temporaryDirectory } from '../helpers/stores.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')

test('an installation has what the service needs and no more, and starts', async (t) => {
  const directory = join(await temporaryDirectory(t), 'service')
  const { stdout } = await run(process.execPath, ['scripts/production.mjs', directory], { cwd: ROOT })
  const [, megabytes] = /: (\d+) MB/.exec(stdout) ?? []
  t.ok(Number(megabytes) < 60, stdout)
  t.strictSame((await readdir(directory)).sort(), ['.build', 'dist', 'node_modules', 'package.json'])
  const installed = await readdir(join(directory, 'node_modules'))
  for (const name of ['typescript', 'tap', 'eslint', 'preact']) t.notOk(installed.includes(name), name)
  // So that `npm install` of a driver adds it, and neither adds nor removes anything else.
  await run('npm', ['ls', '--all'], { cwd: directory })
  const env = { PATH: process.env['PATH'], PORT: '0', DATABASE_URL: 'memory:', NODE_ENV: 'production' }
  const script = `
    import { buildApp } from '${directory}/.build/examples/standalone/app.js'
    import { readConfig } from '${directory}/.build/examples/standalone/config.js'
    const app = await buildApp(readConfig({ ...process.env, METRICS_ENABLED: 'true', API_KEYS: 'k'.repeat(32) }), false)
    const origin = await app.listen({ port: 0 })
    for (const path of ['/ready', '/admin/', '/docs', '/metrics', '/openapi.json']) {
      console.log(path, (await fetch(origin + path)).status)
    }
    await app.close()`
  const file = join(directory, 'try.mjs')
  await writeFile(file, script)
  const tried = await run(process.execPath, [file], { cwd: directory, env })
  t.equal(tried.stdout, '/ready 200\n/admin/ 200\n/docs 200\n/metrics 200\n/openapi.json 200\n')
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const cli = await run(process.execPath, ['dist/cli/main.js', '--version'], { cwd: directory })
  t.equal(cli.stdout, `${version}\n`)
  for (const [given, stderr] of [
    [[directory], `${directory} is not empty: name a new or empty directory\n`],
    [[], 'name a directory: node scripts/production.mjs <directory>\n']
  ] as const) {
    await t.rejects(run(process.execPath, ['scripts/production.mjs', ...given], { cwd: ROOT }), { code: 1, stderr })
  }
})

const analyze = spawnSync('systemd-analyze', ['--version']).error !== undefined && 'systemd-analyze is not installed'

test('systemd finds nothing wrong with the unit', { skip: analyze }, async (t) => {
  const directory = await temporaryDirectory(t)
  const unit = await readFile(join(ROOT, 'deploy', 'fastify-users.service'), 'utf8')
  // The programs of this machine are elsewhere.
  const file = join(directory, 'fastify-users.service')
  await writeFile(file, unit.replace('/usr/bin/node', process.execPath))
  const { stdout, stderr } = await run('systemd-analyze', ['verify', file])
  t.equal(`${stdout}${stderr}`, '')
})
