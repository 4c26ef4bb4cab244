import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The oldest Node.js that is supported, and the newest of each maintained major version. */
export const VERSIONS = ['20.19.0', '22', '24', '26']

/** Installs a Node.js from the npm registry, which has its binaries as packages. Returns the directory of `node`. */
export function installNode (version) {
  const directory = join(ROOT, '.build', 'nodes', version)
  const name = `node-${process.platform}-${process.arch}`
  const bin = join(directory, 'node_modules', name, 'bin')
  if (existsSync(bin)) return bin
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n')
  const args = ['install', '--no-audit', '--no-fund', '--silent', `${name}@${version}`]
  const { status, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Node.js ${version} could not be installed: ${stderr}`)
  return bin
}
