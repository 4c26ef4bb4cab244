// The types of the packed package in blank ESM TypeScript projects: fields of a host's own, and a host with an `app.users` of its own.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { blankProject, compile, compilers, node, passes } from '../helpers/blank-project.ts'

test('fields of a host have their types with every compiler, and misuse does not compile', async (t) => {
  const cwd = await blankProject(t, 'fields', 'module', ['fastify', '@types/node', ...Object.values(compilers)])
  for (const compiler of Object.keys(compilers)) {
    await compile(cwd, compiler, ['use.ts', 'misuse.ts'], {})
    t.pass(compiler)
  }
  await compile(cwd, 'typescript', ['use.ts'], { noEmit: false, outDir: 'built' })
  passes(t, await node(cwd, '--test', join('built', 'use.js')), 1)
})

test('a host with an app.users of its own compiles with the plugin alone', async (t) => {
  const cwd = await blankProject(t, 'own-users', 'module', ['fastify', '@types/node', ...Object.values(compilers)])
  for (const compiler of Object.keys(compilers)) await compile(cwd, compiler, ['host.ts'], { noEmit: false, outDir: 'built' })
  await node(cwd, join('built', 'host.js'))
  await writeFile(join(cwd, 'both.ts'), "import 'fastify-users'\nimport './host.ts'\n")
  await t.rejects(compile(cwd, 'typescript', ['both.ts'], { allowImportingTsExtensions: true }), /TS2717/, 'which the main entry could not do')
})
