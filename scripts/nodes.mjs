import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The oldest Node.js that we run on, and the newest of each line that is maintained. */
export const VERSIONS = ['20.19.0', '22', '24', '26']

/** Installs a Node.js from the npm registry, which has its binaries as packages: the directory of its program. */
export function installNode (version) {
  const directory = join(ROOT, '.build', 'nodes', version)
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const bin = join(directory, 'node_modules', name, 'bin')
  if (existsSync(bin)) return bin
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n')
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--silent', `${name}@${version}`], { cwd: directory, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Node.js ${version} could not be installed: ${stderr}`)
  return bin
}
