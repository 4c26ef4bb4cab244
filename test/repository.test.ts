// What the documents and the manifest claim, compared with the code.
import { execFile } from 'node:child_process'
import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'tap'
import { missingFrom } from '../lib/storage/storage-rules.ts'
import { variables } from '../examples/standalone/variables.ts'
import { plainNode } from './helpers/plain-node.ts'

const ROOT = join(import.meta.dirname, '..')
const run = promisify(execFile)

async function read (...path: string[]): Promise<string> {
  return readFile(join(ROOT, ...path), 'utf8')
}

/** The first cells of the table below a heading. */
function firstCells (text: string, heading: string): string[] {
  const section = text.slice(text.indexOf(`${heading}\n`) + heading.length + 1)
  const end = section.search(/^#{2,3} /m)
  const rows = (end === -1 ? section : section.slice(0, end)).split('\n').filter((line) => line.startsWith('| `'))
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name))
}

test('the docs list every variable of the service, and no other', async (t) => {
  const listed = firstCells(await read('docs', 'operations.md'), '## Configuration')
  t.strictSame(listed.sort(), Object.keys(variables).sort())
})

test('the dashboard asks for metrics that the service has, and for all of its own', async (t) => {
  const source = await read('examples', 'standalone', 'metrics.ts')
  const names = [...source.matchAll(/'(users_\w+)'/g)].map(([, name = '']) => name)
  const dashboard = await read('deploy', 'grafana.json')
  const asked = [...dashboard.matchAll(/\b(users_\w+?)(?:_bucket|_count|_sum)?\b/g)].map(([, name = '']) => name)
  t.strictSame([...new Set(asked)].sort(), names.filter((name) => !name.includes('compaction')).sort())
  const page = await read('docs', 'monitoring.md')
  for (const name of names) t.match(page, `\`${name}\``)
})

test('the guide for adapter authors explains every method', async (t) => {
  const listed = firstCells(await read('docs', 'writing-an-adapter.md'), '## The interface')
  t.strictSame(missingFrom({}).filter((name) => name !== 'name' && !listed.includes(name)), [])
})

test('every script that the documents name exists', async (t) => {
  const { scripts } = JSON.parse(await read('package.json'))
  const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'UPGRADING.md']
  const texts = await Promise.all(documents.map((name) => read(name)))
  const named = texts.flatMap((text) => [...text.matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)\b(?! --prefix)/g)])
  t.ok(named.length > 5)
  for (const [command, script = ''] of named) t.ok(scripts[script], command)
})

test('every subpath of the package is documented and can be imported', async (t) => {
  const { exports } = JSON.parse(await read('package.json'))
  const subpaths = Object.keys(exports).filter((path) => !path.endsWith('.json'))
  const texts = await read('README.md') + await read('docs/getting-started.md')
  for (const path of subpaths) {
    t.match(texts, path === '.' ? "'fastify-users'" : `/${path.split('/').at(-1)}`, `the documents name ${path}`)
    t.ok(Object.keys(await import(join('fastify-users', path))).length > 0, path)
  }
})

test('the documents name files that exist', async (t) => {
  const ours = /`((?:lib|adapters|admin|cli|examples|scripts|test)\/[\w./-]+)`/g
  for (const document of ['SECURITY.md', 'CONTRIBUTING.md', 'docs/architecture.md']) {
    const named = [...(await read(document)).matchAll(ours)].map(([, path = '']) => path)
    t.ok(named.length > 5)
    for (const path of named) await t.resolves(access(join(ROOT, path)), path)
  }
})

test('the runner of the suite exits as its command does', async (t) => {
  const exit = (code: number) => {
    const env = { PATH: process.env['PATH'], PG_URL: 'there', PGBOUNCER_URL: 'there' }
    const script = [join('test', 'run.mjs'), process.execPath, '-e', `process.exit(${code})`]
    return run(...plainNode(...script), { cwd: ROOT, env })
  }
  await exit(0)
  await t.rejects(exit(3), { code: 3 })
})

test('a project with the memory store alone loads no database driver', async (t) => {
  const script = `
    import 'fastify-users'
    import 'fastify-users/adapters/memory'
    import 'fastify-users/testing'
    import { createRequire } from 'node:module'
    const { cache } = createRequire(import.meta.url)
    console.log(Object.keys(cache).filter((path) => /node_modules\\/(knex|pg|sqlite3)\\//.test(path)).length)`
  const { stdout } = await run(...plainNode('--input-type=module', '-e', script), { cwd: ROOT })
  t.equal(stdout, '0\n')
})

test('the sources hold nothing for later, and the lock file no address', async (t) => {
  const unfinished: string[] = []
  for (const folder of ['lib', 'adapters', 'cli', 'examples']) {
    const files = (await readdir(join(ROOT, folder), { recursive: true })).filter((name) => name.endsWith('.ts'))
    t.ok(files.length > 0, folder)
    for (const name of files) {
      const isUnfinished = /\b(?:TODO|FIXME|XXX)\b|@ts-ignore|eslint-disable/.test(await read(folder, name))
      if (isUnfinished) unfinished.push(join(folder, name))
    }
  }
  t.strictSame(unfinished, [])
  for (const lock of ['package-lock.json', join('docs', 'package-lock.json')]) {
    t.notOk(/"resolved": "(?!deploy")/.test(await read(lock)), lock)
  }
})
