// Installs the drivers of SQLite that may have to be compiled, and links them into node_modules: npm run drivers
// `npm ci` leaves them out, because it compiles nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loads } from './loads.mjs'

const ROOT = join(import.meta.dirname, '..')
const hasNode22 = Number.parseInt(process.versions.node, 10) >= 22

/** The drivers for this Node.js. */
const DRIVERS = [
  { name: 'better-sqlite3', folder: hasNode22 ? 'better-sqlite3-13' : 'better-sqlite3-12' },
  { name: 'sqlite3', folder: 'sqlite3' }
]

// npm sets variables for the package whose script runs this. They must not reach the installation of another package.
const OF_THIS_PACKAGE = /^npm_(?:package|lifecycle|command|config_local_prefix)/
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THIS_PACKAGE.test(name)))

/** Installs a driver. True if it loads. */
async function install ({ name, folder }) {
  const manifest = join(ROOT, 'test', 'drivers', folder)
  // Not next to its manifest, since tap would search every file of a driver for tests.
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
  const options = { cwd: source, env, stdio: 'inherit' }
  const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--silent'], options)
  const [code] = await once(child, 'exit')
  link()
  return code === 0 && loads(name)
}

// Concurrently, since the compiler of each uses one core.
await Promise.all(DRIVERS.map(async (driver) => {
  if (await install(driver)) return
  rmSync(join(ROOT, 'node_modules', driver.name), { recursive: true, force: true })
  process.stderr.write(`Could not install the SQLite driver ${driver.name}. Tests that need it are skipped.\n`)
}))
