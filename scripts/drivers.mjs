// Installs SQLite drivers, which `npm ci` leaves out since most of them are compiled, and links them into node_modules:
// node scripts/drivers.mjs needed     what sqlite() needs on a Node.js without node:sqlite; nothing on others
// node scripts/drivers.mjs prebuilt   and those that need no compiler
// node scripts/drivers.mjs all        and all others that this Node.js can have
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { loads } from './loads.mjs'

const ROOT = join(import.meta.dirname, '..')
const hasNode22 = Number.parseInt(process.versions.node, 10) >= 22

/** What there is for this Node.js, and from which word on it is installed. */
const WORDS = ['needed', 'prebuilt', 'all']
const DRIVERS = [
  hasNode22
    ? { name: 'better-sqlite3', folder: 'better-sqlite3-13', from: isBuiltin('node:sqlite') ? 'prebuilt' : 'needed' }
    : { name: 'better-sqlite3', folder: 'better-sqlite3-12', from: 'needed' },
  { name: 'sqlite3', folder: 'sqlite3', from: 'all' }
]

/** What npm has set for the package that runs this script is not for another one. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?:package|lifecycle|command|config_local_prefix)/.test(name)))

/** Answers whether it was installed. */
async function install ({ name, folder }) {
  const manifest = join(ROOT, 'test', 'drivers', folder)
  // Apart from its manifest: tap would look through every file of a driver for tests.
  const source = join(ROOT, '.build', 'drivers', folder)
  const target = join(ROOT, 'node_modules', name)
  const link = () => {
    rmSync(target, { recursive: true, force: true })
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(join(source, 'node_modules', name), target, 'junction')
  }
  if (existsSync(join(source, 'node_modules', name))) {
    link()
    if (loads(name)) return true
  }
  process.stderr.write(`Installing ${name} (${folder}) ...\n`)
  mkdirSync(source, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(manifest, file), join(source, file))
  const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--silent'], { cwd: source, env, stdio: 'inherit', shell: process.platform === 'win32' })
  const [code] = await once(child, 'exit')
  link()
  return code === 0 && loads(name)
}

const word = process.argv[2] ?? 'all'
// Each is compiled on one core.
await Promise.all(DRIVERS.filter(({ from }) => WORDS.indexOf(from) <= WORDS.indexOf(word)).map(async (driver) => {
  if (await install(driver)) return
  rmSync(join(ROOT, 'node_modules', driver.name), { recursive: true, force: true })
  process.stderr.write(`The SQLite driver ${driver.name} could not be installed; what needs it says so, or is skipped.\n`)
}))
