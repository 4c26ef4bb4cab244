// The packed package in bundles, in a copy of the files that a tracer finds, and on Bun and Deno:
// RUNTIMES='bun,deno run --allow-all' npm test -- test/acceptance/bundling.test.ts
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { nodeFileTrace } from '@vercel/nft'
import { build, type BuildOptions } from 'esbuild'
import { test } from 'tap'
import { addFixture, blankProject, command, node } from '../helpers/blank-project.ts'
import { pgUrl, sql, temporaryDirectory } from '../helpers/stores.ts'

// The fixture connects to what this sets in the environment.
pgUrl()
const PACKAGES = ['fastify', 'knex', 'pg', '@photostructure/sqlite', '@fastify/rate-limit']
const STORES = ['memory', 'sqlite', 'postgres']
/** What the fixture prints for each storage: the status of a list, the limit of its rate, the page. */
const ANSWERS = '200 "key";q=9;w=60 200 true\n'.repeat(STORES.length)
const runtimes = process.env['RUNTIMES']?.split(',') ?? []

test('a bundle has the page, and finds optional packages; at night a traced copy too', async (t) => {
  const cwd = await blankProject(t, PACKAGES)
  t.teardown(() => sql('drop schema if exists bundled cascade'))
  const folder = await addFixture(cwd, 'bundled', 'module')
  const entry = join(folder, 'app.js')
  const bundle: BuildOptions = { entryPoints: [entry], bundle: true, platform: 'node', logLevel: 'error' }
  const commonjs = join(cwd, 'dist', 'app.cjs')
  await build({ ...bundle, format: 'cjs', outfile: commonjs })
  t.equal(await node(cwd, commonjs, ...STORES), ANSWERS, 'a bundle in CommonJS')
  // Fastify requires modules of Node.js.
  const js = "import { createRequire as here } from 'node:module'; const require = here(import.meta.url)"
  const module = join(cwd, 'dist', 'app.mjs')
  await build({ ...bundle, format: 'esm', outfile: module, banner: { js } })
  t.equal(await node(cwd, module, ...STORES), ANSWERS, 'a bundle of ES modules')

  const { fileList } = await nodeFileTrace([entry], { base: cwd })
  const copy = await temporaryDirectory(t)
  for (const file of fileList) {
    await mkdir(dirname(join(copy, file)), { recursive: true })
    await cp(join(cwd, file), join(copy, file), { verbatimSymlinks: true })
  }
  // nft does not find the binary of @photostructure/sqlite, which Node.js 20 needs here: docs/bundling.md.
  const printed = await node(copy, join(copy, 'bundled', 'app.js'), 'memory', 'postgres', 'memory')
  t.equal(printed, ANSWERS, 'a copy of the traced files')
})

test('Bun and Deno run it on every storage', { skip: runtimes.length === 0 && 'RUNTIMES names none' }, async (t) => {
  const cwd = await blankProject(t, PACKAGES)
  t.teardown(() => sql('drop schema if exists bundled cascade'))
  const folder = await addFixture(cwd, 'bundled', 'module')
  for (const runtime of runtimes) {
    const { stdout } = await command(cwd, ...runtime.split(' '), join(folder, 'app.js'), ...STORES)
    t.equal(stdout, ANSWERS, runtime)
  }
})
