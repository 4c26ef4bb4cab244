// The module hooks of strip-types.mjs. What was stripped is kept in .build/stripped, under the digest of its source;
// TypeBox in few files in .build/typebox, since each of its 260 takes round trips to the thread of these hooks.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)
const { version } = require('@swc/wasm-typescript/package.json')
const directory = join(import.meta.dirname, '..', '.build', 'stripped')
mkdirSync(directory, { recursive: true })

function strip (source) {
  const kept = join(directory, createHash('sha1').update(version).update(source).digest('hex'))
  try {
    return readFileSync(kept, 'utf8')
  } catch {
    // Loaded here, since most processes find everything stripped.
    const { code } = require('@swc/wasm-typescript').transformSync(source, { mode: 'strip-only', module: true })
    const partial = `${kept}.${process.pid}`
    writeFileSync(partial, code)
    renameSync(partial, kept)
    return code
  }
}

const TYPEBOX = ['@sinclair/typebox', '@sinclair/typebox/errors', '@sinclair/typebox/value']
const published = join(dirname(require.resolve(TYPEBOX[0])), '..', 'esm')
const { version: release } = JSON.parse(readFileSync(join(published, '..', '..', 'package.json'), 'utf8'))
const bundled = join(directory, '..', 'typebox', release)

function bundle () {
  const entryPoints = TYPEBOX.map((name) => join(published, name.slice(TYPEBOX[0].length), 'index.mjs'))
  const outdir = `${bundled}.${process.pid}`
  const outExtension = { '.js': '.mjs' }
  require('esbuild').buildSync({
    entryPoints, outdir, outExtension, outbase: published, bundle: true, splitting: true, format: 'esm'
  })
  try {
    renameSync(outdir, bundled)
  } catch {
    // Another process was faster.
    rmSync(outdir, { recursive: true })
  }
}

export async function resolve (specifier, context, next) {
  if (!TYPEBOX.includes(specifier)) return next(specifier, context)
  if (!existsSync(bundled)) bundle()
  const { href } = pathToFileURL(join(bundled, specifier.slice(TYPEBOX[0].length), 'index.mjs'))
  return { url: href, format: 'module', shortCircuit: true }
}

export async function load (url, context, next) {
  if (!/^file:.*\.m?ts$/.test(url)) return next(url, context)
  return { format: 'module', source: strip(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true }
}
