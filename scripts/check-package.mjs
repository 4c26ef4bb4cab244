// Packs what dist/ has, and has publint and attw check the tarball: npm run check:package
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directory = mkdtempSync(join(tmpdir(), 'fastify-users-package-'))

function run (command, ...args) {
  const options = { encoding: 'utf8' }
  const { status, stdout, stderr } = spawnSync(command, args, options)
  if (status === 0) return stdout
  process.stderr.write(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
  rmSync(directory, { recursive: true })
  process.exit(1)
}

// The build is there already: without --ignore-scripts packing would repeat it.
const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', directory))
const tarball = join(directory, filename)
run(join('node_modules', '.bin', 'publint'), tarball, '--strict')
run(join('node_modules', '.bin', 'attw'), tarball, '--profile', 'esm-only')
rmSync(directory, { recursive: true })
