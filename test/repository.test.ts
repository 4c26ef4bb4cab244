// What the documents claim, held against the code; and the direction of imports.
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { memory } from '../adapters/memory/index.ts'
import { test } from 'tap'
import { errorTable } from '../lib/errors.ts'
import { checkOptions } from '../lib/options.ts'
import { plainNode } from './helpers/plain-node.ts'

const ROOT = join(import.meta.dirname, '..')

async function read (...path: string[]): Promise<string> {
  return readFile(join(ROOT, ...path), 'utf8')
}

async function sources (...directories: string[]): Promise<Array<{ path: string, text: string }>> {
  const found = []
  for (const directory of directories) {
    for (const name of await readdir(join(ROOT, directory), { recursive: true })) {
      if (name.endsWith('.ts')) found.push({ path: join(directory, name), text: await read(directory, name) })
    }
  }
  return found
}

/** The cells of a table of the README, under this heading. */
function table (readme: string, heading: string): string[][] {
  const section = readme.slice(readme.indexOf(`${heading}\n`) + heading.length + 1)
  const end = section.search(/^#{2,3} /m)
  return (end === -1 ? section : section.slice(0, end)).split('\n').filter((line) => line.startsWith('| `')).map((line) => line.replaceAll('\\|', '').split('|').slice(1, -1).map((cell) => cell.trim()))
}

test('the README lists every error code with its status, and no other', async (t) => {
  const listed = table(await read('README.md'), '### Errors').map(([code, status]) => [code?.replaceAll('`', ''), Number(status)])
  t.strictSame(listed, Object.entries(errorTable).map(([code, { status }]) => [code, status]))
})

test('the README lists every option, and no other', async (t) => {
  const listed = table(await read('README.md'), '### Options').flatMap(([names = '']) => names.replaceAll('`', '').split(', '))
  const source = await read('lib', 'options.ts')
  const known = [...source.slice(source.indexOf('export interface UsersOptions'), source.indexOf('export interface CheckedOptions')).matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name)
  t.strictSame(listed, known)
  t.throws(() => checkOptions(Object.assign({ storage: memory() }, { unheardOf: 1 })), /unheardOf is not a known option/)
})

test('the README lists every variable of the service, and no other', async (t) => {
  const listed = table(await read('README.md'), '## The standalone service').map(([name]) => name?.replaceAll('`', ''))
  const config = await read('examples', 'standalone', 'config.ts')
  t.strictSame(listed, [...config.matchAll(/^ {2}([A-Z_]+): Type/gm)].map(([, name]) => name))
})

test('the guide of adapter authors goes through every method, and no other', async (t) => {
  const listed = table(await read('adapters', 'README.md'), '## The methods').flatMap(([names = '']) => names.replaceAll('`', '').split(', '))
  t.strictSame(listed.sort(), Object.keys(memory()).filter((name) => name !== 'name').sort())
})

test('every TypeScript block of the README and the guide stands in an example, and every script it names exists', async (t) => {
  const readme = await read('README.md')
  const examples = (await sources('examples')).map(({ text }) => text)
  const blocks = [...(readme + await read('adapters', 'README.md')).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block.trim())
  t.ok(blocks.length >= 4)
  for (const block of blocks) t.ok(examples.some((text) => text.includes(block)), block)
  const { scripts } = JSON.parse(await read('package.json'))
  for (const [, script = ''] of (readme + await read('CONTRIBUTING.md')).matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)/g)) t.ok(scripts[script], script)
})

test('every subpath that is documented or used exists, and none is left out', async (t) => {
  const { exports } = JSON.parse(await read('package.json'))
  const readme = await read('README.md')
  const used = new Set([...readme.matchAll(/(?<!\/)fastify-users(\/[a-z/]+)/g)].map(([, path]) => `.${path}`))
  t.strictSame([...used].sort(), Object.keys(exports).filter((path) => path !== '.' && path !== './package.json').sort())
  for (const path of Object.keys(exports).filter((path) => path !== './package.json')) {
    const module = await import(join('fastify-users', path))
    t.ok(Object.keys(module).length > 0, path)
  }
})

test('the runner of the suite ends as what it ran ended', async (t) => {
  const run = (code: number) => promisify(execFile)(...plainNode(join('test', 'run.mjs'), process.execPath, '-e', `process.exit(${code})`), { cwd: ROOT, env: { PATH: process.env['PATH'], PG_URL: 'there', PGBOUNCER_URL: 'there' } })
  await run(0)
  await t.rejects(run(3), { code: 3 })
})

test('imports run one way', async (t) => {
  const rooms = ['lib/plugin', 'lib/users/routes', 'lib/http', 'lib/users/service', 'lib/storage']
  t.ok(rooms.length > 0)
  const importsOf = (path: string, text: string) => [...text.matchAll(/(?:from|import) \(?'([^']+)'/g), ...text.matchAll(/import\('([^']+)'\)/g)]
    .map(([, name = '']) => name.startsWith('.') ? relative(ROOT, join(ROOT, path, '..', name)) : name)
  const drivers = ['knex', 'pg', 'sqlite3', 'better-sqlite3', 'node:sqlite']
  const fromLib = new Set(['lib/storage.ts', 'lib/storage-rules.ts', 'lib/errors.ts', 'lib/json.ts', 'lib/text.ts', 'lib/option-check.ts', 'lib/typebox.ts', 'lib/peers.ts'])
  for (const { path, text } of await sources('lib', 'adapters', 'cli')) {
    for (const name of importsOf(path, text)) {
      if (path.startsWith('lib/')) t.ok(!name.startsWith('adapters/') && !drivers.includes(name), `${path} imports ${name}`)
      if (path.startsWith('adapters/')) t.ok(!name.startsWith('lib/') || fromLib.has(name), `${path} imports ${name}`)
      if (path.startsWith('adapters/memory/') || path.startsWith('adapters/testing/')) t.notOk(drivers.includes(name) || name.startsWith('adapters/knex'), `${path} imports ${name}`)
      if (/service|rules|storage|record|key-text|verifier/.test(path) && path.startsWith('lib/')) t.notOk(name.startsWith('lib/http/') || name.includes('routes') || name === 'fastify', `${path} imports ${name}`)
      t.notOk(name.startsWith('examples/') || name.startsWith('test/') || (name.startsWith('cli/') && !path.startsWith('cli/')), `${path} imports ${name}`)
    }
  }
})

test('what a user with memory alone installs is enough', async (t) => {
  // Nothing that the main entry or the memory store loads may be a driver, not even behind another module.
  const script = "import 'fastify-users'; import 'fastify-users/adapters/memory'; import 'fastify-users/testing'; import { createRequire } from 'node:module'; const { cache } = createRequire(import.meta.url); console.log(Object.keys(cache).filter((path) => /node_modules\\/(knex|pg|sqlite3)\\//.test(path)).length)"
  const { stdout } = await promisify(execFile)(...plainNode('--input-type=module', '-e', script), { cwd: ROOT })
  t.equal(stdout, '0\n')
})

test('the conformance kit runs under node:test as the README shows', async (t) => {
  const { stdout } = await promisify(execFile)(...plainNode('--test', '--test-reporter=tap', join('.build', 'examples', 'conformance', 'memory.test.js')), { cwd: ROOT, env: { PATH: process.env['PATH'] } })
  t.match(stdout, /# pass 87\n(?:.*\n)*# fail 0/)
})

test('nothing of a private place or of later is left in the sources', async (t) => {
  for (const { path, text } of await sources('lib', 'adapters', 'cli', 'examples')) {
    t.notMatch(text, /\b(?:TODO|FIXME|XXX)\b|@ts-ignore|eslint-disable/, path)
  }
  t.notMatch(await read('package-lock.json'), /"resolved"/)
})
