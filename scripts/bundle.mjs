// Makes dist/ of what tsc made in .build/package: each entry of package.json and what they share as few files, with TypeBox in one of them; types as they are.
// Node.js takes longer to find and link a hundred modules than to run them: node scripts/bundle.mjs
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

const MODULES = '.build/package'
const TYPEBOX = join(MODULES, 'lib', 'core', 'typebox.js')

const settings = { bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' }

// First by itself: the comment keeps its licence beside it, wherever it goes.
const licence = await readFile('node_modules/@sinclair/typebox/license', 'utf8')
await build({ ...settings, entryPoints: [TYPEBOX], outfile: TYPEBOX, allowOverwrite: true, banner: { js: `/*!\n${licence.trim()}\n*/` } })

const { exports, bin } = JSON.parse(await readFile('package.json', 'utf8'))
const entries = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)].filter((path) => path !== undefined)
await build({
  ...settings,
  entryPoints: entries.map((path) => path.replace('./dist', MODULES)),
  outbase: MODULES,
  outdir: 'dist',
  splitting: true,
  chunkNames: 'lib/shared/[hash]',
  packages: 'external'
})

await cp(MODULES, 'dist', { recursive: true, filter: (path) => !/\.js$/.test(path) })
