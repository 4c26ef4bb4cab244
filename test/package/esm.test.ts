// The packed package in a blank ESM TypeScript project: every subpath, compiled and run; and what must not compile.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { blankProject, compile, compilers, node, pack, passes } from '../helpers/blank-project.ts'
import { sql, temporaryDirectory } from '../helpers/stores.ts'

test('what is packed is the build, and the papers', async (t) => {
  const { files } = await pack(await temporaryDirectory(t))
  t.strictSame(files.filter((path) => !path.startsWith('dist/')).sort(), [
    'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'adapters/README.md', ...['api-keys', 'database', 'index', 'users'].map((name) => `examples/custom-adapter/${name}.ts`), 'package.json'
  ])
  t.ok(files.every((path) => !path.startsWith('dist/') || /^dist\/(?:lib|adapters|cli)\/.*\.(?:js|d\.ts)$/.test(path)))
  const scripts = files.filter((path) => path.endsWith('.js'))
  t.ok(scripts.length < 25, 'few files, which load fast')
  const texts = await Promise.all(scripts.map((path) => readFile(join(import.meta.dirname, '..', '..', path), 'utf8')))
  t.equal(texts.filter((text) => text.includes('TypeBox') && text.includes('The above copyright notice and this permission notice shall be included')).length, 1, 'what is in them of others comes with its licence')
})

test('every subpath compiles with every compiler, misuse does not, and all of it runs', async (t) => {
  const cwd = await blankProject(t, 'esm', 'module', ['fastify', '@types/node', ...Object.values(compilers), 'knex', 'pg', 'sqlite3'])
  t.teardown(() => sql('drop schema if exists packed cascade'))
  for (const compiler of Object.keys(compilers)) {
    await compile(cwd, compiler, ['use.ts', 'misuse.ts'], {})
    t.pass(compiler)
  }
  await compile(cwd, 'typescript', ['use.ts', 'misuse.ts'], { module: 'preserve', moduleResolution: 'bundler' })
  await compile(cwd, 'typescript', ['use.ts'], { noEmit: false, outDir: 'built' })
  passes(t, await node(cwd, '--test', join('built', 'use.js')), 92)
  t.match(await node(cwd, join('node_modules', '.bin', 'fastify-users'), 'migrate', '--database', 'sqlite:data/users.db'), /^The schema is at version \d+ now\.$/m)
})
