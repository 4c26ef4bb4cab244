// Makes dist/ from the output of tsc in .build/package: node scripts/bundle.mjs
//
// Each entry of package.json becomes one file. What the plugin imports becomes another, and so does what the SQL stores
// import: Node.js takes longer to resolve and link a hundred modules than to run them. So TypeBox is in the first, and
// so is what devDependencies name: four small libraries in place of their files. Declarations are copied. The
// administration page becomes a module with its files as texts: bundlers and tracers of others find modules, and no
// files.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { rolldown } from 'rolldown'

const MODULES = resolve('.build/package')
const PAGE = join(MODULES, 'admin', 'page.js')

const { exports, bin, dependencies, peerDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
// Not TypeBox: it is a dependency because its types are in the declarations.
const { '@sinclair/typebox': _, ...installed } = { ...dependencies, ...peerDependencies }

// The administration page: a browser's files, with nothing left to load from elsewhere.
const page = await build({
  bundle: true,
  minify: true,
  write: false,
  platform: 'browser',
  format: 'esm',
  target: ['es2023', 'chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
  entryPoints: { admin: 'admin/main.tsx' },
  metafile: true,
  banner: { js: '/* Contains Preact, (c) Jason Miller and others, MIT licence: see LICENSES.txt of fastify-users. */' }
})
const style = await build({
  bundle: true, minify: true, write: false, logLevel: 'warning', entryPoints: ['admin/admin.css']
})
const files = {
  html: await readFile('admin/index.html', 'utf8'), script: page.outputFiles[0].text, style: style.outputFiles[0].text
}
await mkdir(dirname(PAGE), { recursive: true })
await writeFile(PAGE, Object.entries(files).map(([name, text]) => `export const ${name} = ${JSON.stringify(text)}\n`))

/** The modules that entries import, directly or through others. */
const imported = { plugin: new Set(), sql: new Set() }
function follow (id, found, modules) {
  for (const next of modules.getModuleInfo(id).importedIds) {
    if (!found.has(next)) follow(next, found.add(next), modules)
  }
}
const imports = {
  name: 'imports',
  buildEnd () {
    follow(join(MODULES, 'lib/index.js'), imported.plugin, this)
    for (const name of ['knex/index', 'sqlite', 'postgres']) {
      follow(join(MODULES, `adapters/${name}.js`), imported.sql, this)
    }
  }
}

const entries = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin), './dist/admin/page.js']
  .filter((path) => path !== undefined)
  .map((path) => path.slice('./dist/'.length, -'.js'.length))
const modules = await rolldown({
  input: Object.fromEntries(entries.map((name) => [name, join(MODULES, `${name}.js`)])),
  platform: 'node',
  external: (id) => Object.keys(installed).some((name) => id === name || id.startsWith(`${name}/`)),
  resolve: { alias: { '#admin-page': PAGE } },
  plugins: [imports]
})
const { output } = await modules.write({
  dir: 'dist',
  entryFileNames: '[name].js',
  chunkFileNames: 'lib/shared/[name].js',
  comments: false,
  codeSplitting: {
    groups: [
      { name: 'plugin', test: (id) => imported.plugin.has(id), minShareCount: 2 },
      { name: 'sql', test: (id) => imported.sql.has(id), minShareCount: 2 }
    ]
  }
})

await cp(MODULES, 'dist', { recursive: true, filter: (path) => !/\.js$/.test(path) })

/** The licence of each package that has modules among these. */
async function licencesOf (paths) {
  const packages = new Set(paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))
  const licences = await Promise.all([...packages].map(async (directory) => {
    const { name, version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
    const file = (await readdir(directory)).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined) throw new Error(`${name} has no file with its licence`)
    return `${name} ${version}\n\n${(await readFile(join(directory, file), 'utf8')).trim()}\n`
  }))
  return licences.sort()
}

const bundled = [...Object.keys(page.metafile.inputs), ...output.flatMap(({ moduleIds = [] }) => moduleIds)]
const head = 'These packages are parts of the files here.\n'
const texts = [head, ...await licencesOf(bundled)]
await writeFile('dist/LICENSES.txt', texts.join(`\n${'-'.repeat(80)}\n\n`))
