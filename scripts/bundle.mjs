// Puts what the built module of TypeBox re-exports into that one file, with TypeBox's licence: node scripts/bundle.mjs dist/lib/typebox.js
import { readFileSync } from 'node:fs'
import { build } from 'esbuild'

const [file] = process.argv.slice(2)
const licence = readFileSync(new URL('../node_modules/@sinclair/typebox/license', import.meta.url), 'utf8')
await build({
  entryPoints: [file],
  outfile: file,
  allowOverwrite: true,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  banner: { js: `/*\n${licence.trim()}\n*/` },
  logLevel: 'warning'
})
