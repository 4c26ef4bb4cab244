// Makes dist/ from the output of tsc in .build/package: node scripts/bundle.mjs
//
// Each entry of package.json becomes one file. Shared code becomes a few files, with TypeBox in one of them.
// Declarations are copied. Node.js takes longer to resolve and link a hundred modules than to run them.
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

const MODULES = '.build/package'
const TYPEBOX = join(MODULES, 'lib', 'core', 'typebox.js')

const settings = { bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' }

// TypeBox is bundled first, with its licence as a comment, which the second build keeps next to the code.
const licence = await readFile('node_modules/@sinclair/typebox/license', 'utf8')
const banner = { js: `/*!\n${licence.trim()}\n*/` }
await build({ ...settings, entryPoints: [TYPEBOX], outfile: TYPEBOX, allowOverwrite: true, banner })

const { exports, bin } = JSON.parse(await readFile('package.json', 'utf8'))
const entries = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)]
await build({
  ...settings,
  entryPoints: entries.filter((path) => path !== undefined).map((path) => path.replace('./dist', MODULES)),
  outbase: MODULES,
  outdir: 'dist',
  splitting: true,
  chunkNames: 'lib/shared/[hash]',
  packages: 'external'
})

// The administration page: a browser's files, with nothing left to load from elsewhere.
await build({
  bundle: true,
  minify: true,
  platform: 'browser',
  format: 'esm',
  target: ['es2023', 'chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
  entryPoints: { admin: 'admin/main.tsx' },
  outdir: 'dist/admin',
  banner: { js: '/* Contains Preact, (c) Jason Miller and others, MIT licence. */' }
})
await build({
  bundle: true, minify: true, logLevel: 'warning', entryPoints: ['admin/admin.css'], outdir: 'dist/admin'
})
await cp('admin/index.html', 'dist/admin/index.html')

await cp(MODULES, 'dist', { recursive: true, filter: (path) => !/\.js$/.test(path) })
