// Installs the standalone service in an empty directory, as deploy/Dockerfile does: what it needs, and no more.
//   node scripts/production.mjs /srv/fastify-users
// Build before: npm ci && npm run build && npm run build:examples
import { spawnSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Ends the process with one line for an operator. */
function fail (problem) {
  console.error(problem)
  process.exit(1)
}

const entriesOf = (directory) => readdir(directory).catch(({ code }) =>
  code === 'ENOENT' ? [] : fail(`${directory} cannot be a directory (${code}): name a new or empty one`))

process.chdir(join(import.meta.dirname, '..'))
const [given] = process.argv.slice(2)
if (given === undefined) fail('name a directory: node scripts/production.mjs <directory>')
const target = resolve(given)
if ((await entriesOf(target)).length > 0) fail(`${target} is not empty: name a new or empty directory`)

const FILES = ['package.json', 'package-lock.json', 'deploy/package.json', 'dist', '.build/examples']
for (const path of FILES) {
  await stat(path).catch(() => {
    fail(`${path} is missing: run npm run build && npm run build:examples`)
  })
}
await mkdir(join(target, 'deploy'), { recursive: true })
for (const path of FILES) await cp(path, join(target, path), { recursive: true })
const begun = performance.now()
const { status } = spawnSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
  cwd: target,
  stdio: 'inherit'
})
if (status !== 0) fail('npm ci failed: its message is above')
// What is there is all that is needed: `npm install` adds a driver to it, and neither adds nor removes anything else.
const json = async (path) => JSON.parse(await readFile(join(target, path), 'utf8'))
const { name, version, type, exports, dependencies } = await json('package.json')
const all = { ...dependencies, ...(await json('deploy/package.json')).dependencies }
const kept = { name, version, private: true, type, exports, dependencies: all }
await writeFile(join(target, 'package.json'), `${JSON.stringify(kept, null, 2)}\n`)
// Only npm needed these.
for (const path of ['package-lock.json', 'deploy', 'node_modules/fastify-users-service']) {
  await rm(join(target, path), { recursive: true, force: true })
}

// For fastify-users on a PATH with node_modules/.bin.
await symlink(join('..', '..', 'dist', 'cli', 'main.js'), join(target, 'node_modules', '.bin', 'fastify-users'))

async function bytesIn (directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(entries.filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size))
  return sizes.reduce((a, b) => a + b, 0)
}
const megabytes = Math.round(await bytesIn(target) / 1e6)
console.log(`${target}: ${megabytes} MB, installed in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
