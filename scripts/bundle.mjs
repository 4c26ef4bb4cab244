// Makes dist/ from the output of tsc in .build/package: node scripts/bundle.mjs
//
// Each entry of package.json becomes one file, and shared code becomes a few: Node.js takes longer to resolve and link
// a hundred modules than to run them. So TypeBox is in one of them, and what is named in devDependencies: three small
// libraries in place of their 30 files, which took a fifth of the import. Declarations are copied. The administration
// page becomes a module with its files as texts: bundlers and tracers of others find modules, and no files.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const MODULES = '.build/package'
const TYPEBOX = join(MODULES, 'lib', 'core', 'typebox.js')
const PAGE = `${MODULES}/admin/page.js`

const settings = {
  bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning', metafile: true
}
const { exports, bin, dependencies, peerDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
const installed = Object.keys({ ...dependencies, ...peerDependencies })

// First, since it is a dependency too: its types are in the declarations.
const typebox = await build({ ...settings, entryPoints: [TYPEBOX], outfile: TYPEBOX, allowOverwrite: true })

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

const entries = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)]
const modules = await build({
  ...settings,
  entryPoints: [
    PAGE, ...entries.filter((path) => path !== undefined).map((path) => path.replace('./dist', MODULES))
  ],
  alias: { '#admin-page': `./${PAGE}` },
  outbase: MODULES,
  outdir: 'dist',
  splitting: true,
  chunkNames: 'lib/shared/[hash]',
  external: [...installed, ...installed.map((name) => `${name}/*`)]
})

await cp(MODULES, 'dist', { recursive: true, filter: (path) => !/\.js$/.test(path) })

/** The licence of each package that a build has put into its files. */
async function licencesOf (builds) {
  const inputs = builds.flatMap(({ metafile: { inputs } }) => Object.keys(inputs))
  const packages = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))
  return Promise.all([...packages].sort().map(async (directory) => {
    const { name, version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
    const file = (await readdir(directory)).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined) throw new Error(`${name} has no file with its licence`)
    return `${name} ${version}\n\n${(await readFile(join(directory, file), 'utf8')).trim()}\n`
  }))
}

const head = 'These packages are parts of the files here.\n'
const texts = [head, ...await licencesOf([typebox, modules, page])]
await writeFile('dist/LICENSES.txt', texts.join(`\n${'-'.repeat(80)}\n\n`))
