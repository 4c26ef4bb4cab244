// The packed package in blank projects: its files, every subpath compiled with every compiler and run, and misuse that
// must not compile.
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import {
  addFixture, blankProject, compile, compilers, newestNodeTypes, node, pack, passes
} from '../helpers/blank-project.ts'
import { from } from '../helpers/level.ts'
import { sqliteDrivers } from '../helpers/sqlite.ts'
import { pgUrl, sql } from '../helpers/stores.ts'

// The fixtures connect to what this sets in the environment.
pgUrl()
const REPORT = ['--test', '--test-reporter=tap'] as const

/** Adds a host whose fields are declared in one of the ways. */
async function fieldsIn (cwd: string, way: string): Promise<string> {
  const folder = await addFixture(cwd, 'fields', 'module', `fields-${way}`)
  await cp(join(import.meta.dirname, 'fixtures', 'fields-schemas', `${way}.ts`), join(folder, 'schema.ts'))
  return folder
}

/** How modules are resolved. CommonJS can't require an ES module with node16 (TS1479). */
const resolutions = {
  nodenext: {},
  node16: { module: 'node16', moduleResolution: 'node16' },
  bundler: { module: 'preserve', moduleResolution: 'bundler' }
}
/** At night everything is compiled with each compiler, in every way: minutes, in which attw checks the same. */
const isNight = from('nightly') === false
const usedCompilers = isNight ? Object.keys(compilers) : ['typescript-7']
const everyWay = isNight ? Object.keys(resolutions) : ['nodenext']
/** The docs' blocks compile with the other libraries, too. */
const fieldsWays = isNight ? ['typebox', 'sinclair-typebox', 'json-schema'] : ['json-schema']

test('the tarball has the build, the documents and the examples of adapters', async (t) => {
  const { files } = await pack()
  t.strictSame(files.filter((path) => !path.startsWith('dist/')).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'UPGRADING.md',
    'adapters/README.md',
    ...['database', 'events', 'index', 'rows', 'users'].map((name) => `examples/custom-adapter/${name}.ts`),
    ...['database', 'events', 'index', 'pages', 'rows', 'tables', 'users']
      .map((name) => `examples/sql-adapter/${name}.ts`),
    'openapi.json',
    'package.json'
  ])
  const page = files.filter((path) => path.startsWith('dist/admin/'))
  t.strictSame(page.sort(), ['dist/admin/page.js'])
  const built = files.filter((path) => path.startsWith('dist/') && !page.includes(path) && path !== 'dist/LICENSES.txt')
  t.ok(built.every((path) => /^dist\/(?:lib|adapters|cli|client)\/.*\.(?:js|d\.ts)$/.test(path)))
  t.ok(built.filter((path) => path.endsWith('.js')).length < 32, 'few files load fast')
  const licences = await readFile(join(import.meta.dirname, '..', '..', 'dist', 'LICENSES.txt'), 'utf8')
  t.strictSame(
    licences.match(/(?<=-{80}\n\n)\S+(?= \d+\.\d+\.\d+\n)/g),
    ['@sinclair/typebox', 'ipaddr.js', 'lru-cache', 'preact', 'typeid-js', 'uuid', 'uuidv7'],
    'each bundled package comes with its licence'
  )
})

test('a project with every peer dependency, and then without a database', async (t) => {
  const links = sqliteDrivers
    .filter(({ driver, skip }) => driver === 'better-sqlite3' && skip === false)
    .map(({ driver }) => driver)
  const cwd = await blankProject(
    t,
    [
      'fastify', '@types/node', '@sinclair/typebox', 'typebox', 'knex', 'pg',
      ...Object.entries(compilers).flatMap(([name, version]) => usedCompilers.includes(name) ? [version] : [])
    ],
    { links }
  )
  t.teardown(() => sql('drop schema if exists packed cascade'))
  const esm = await addFixture(cwd, 'esm', 'module')
  const commonjs = await addFixture(cwd, 'commonjs', 'commonjs')
  const ownUsers = await addFixture(cwd, 'own-users', 'module')
  const fields = await Promise.all(fieldsWays.map((name) => fieldsIn(cwd, name)))

  const programs = [
    { folder: esm, files: ['use.ts', 'misuse.ts'], as: everyWay },
    { folder: commonjs, files: ['use.cts'], as: ['nodenext'] },
    ...fields.map((folder) => ({ folder, files: ['use.ts', 'misuse.ts'], as: everyWay })),
    { folder: ownUsers, files: ['host.ts'], as: ['nodenext'] }
  ]
  for (const compiler of usedCompilers) {
    await t.test(`compiles with ${compiler}, except misuse`, async (t) => {
      for (const { folder, files, as } of programs) {
        for (const [resolution, options] of Object.entries(resolutions)) {
          if (!as.includes(resolution)) continue
          // What runs below is what this makes.
          const isMade = compiler === 'typescript-7' && resolution === 'nodenext'
          const made = isMade ? { noEmit: false, outDir: 'built', declaration: true } : {}
          await compile(cwd, folder, compiler, files, { ...options, ...made })
          t.pass(`${folder} as ${resolution}`)
        }
      }
    })
  }
  await t.test('runs', async (t) => {
    passes(t, await node(esm, ...REPORT, join('built', 'use.js')), 6)
    passes(t, await node(commonjs, ...REPORT, 'use.cjs'), 1)
    await node(commonjs, join('built', 'use.cjs'))
    for (const folder of fields) passes(t, await node(folder, ...REPORT, join('built', 'use.js')), 1)
    const cli = join('node_modules', 'fastify-users', 'dist', 'cli', 'main.js')
    t.match(
      await node(cwd, cli, 'migrate', '--database', 'sqlite:data/users.db'),
      /^The schema is at version \d+ now\.$/m
    )
  })
  await t.test('a host with its own app.users and app.webhooks imports only the plugins', async (t) => {
    await node(ownUsers, join('built', 'host.js'))
    const names = ['fastify-users', 'fastify-users/webhooks', './host.ts']
    await writeFile(join(ownUsers, 'both.ts'), names.map((name) => `import '${name}'\n`).join(''))
    const said = await compile(cwd, ownUsers, 'typescript-7', ['both.ts'], { allowImportingTsExtensions: true })
      .then(() => 'it compiles', String)
    for (const name of ['users', 'webhooks']) t.match(said, new RegExp(`TS2717: .*'${name}'`), 'another is declared')
  })
  await t.test('without a database it needs no driver', async (t) => {
    const modules = join(cwd, 'node_modules')
    const given = ['knex', 'pg', ...links]
    const installed = [...await readdir(modules), ...await readdir(join(modules, '@fastify'))]
    for (const name of ['knex', 'pg', 'sqlite3', 'better-sqlite3', '@photostructure', 'rate-limit', 'swagger']) {
      t.equal(installed.includes(name), given.includes(name), `${name} is there only if it was asked for`)
    }
    for (const name of given) await rm(join(modules, name), { recursive: true })
    const memory = await addFixture(cwd, 'memory', 'module')
    await compile(cwd, memory, 'typescript-7', ['types.ts'], {})
    // The types of the SQL adapters import Knex, which is gone.
    await compile(cwd, memory, 'typescript-7', ['use.ts'], { skipLibCheck: true, noEmit: false, outDir: 'built' })
    passes(t, await node(memory, ...REPORT, join('built', 'use.js')), 3)
  })
})

test('a project whose installer hides undeclared dependencies, with the types of the newest Node.js', {
  skip: from('nightly')
}, async (t) => {
  const cwd = await blankProject(t, ['fastify', newestNodeTypes, 'knex', 'pg', compilers['typescript-7']], {
    args: ['--install-strategy=linked']
  })
  const folder = await fieldsIn(cwd, 'json-schema')
  await compile(cwd, folder, 'typescript-7', ['use.ts', 'misuse.ts'], { noEmit: false, outDir: 'built' })
  passes(t, await node(folder, ...REPORT, join('built', 'use.js')), 1)
  await writeFile(
    join(folder, 'sql.mjs'),
    `import { postgres } from 'fastify-users/adapters/postgres'
const storage = postgres({ connection: process.env.PG_URL, schema: 'linked' })
await storage.open({ migrate: true })
await storage.rollback(0)
await storage.close()
`
  )
  t.teardown(() => sql('drop schema if exists linked cascade'))
  await node(folder, 'sql.mjs')
})
