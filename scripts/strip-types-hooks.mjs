// The module hooks of strip-types.mjs. What was stripped is kept in .build/stripped, under the digest of its source.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

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

export async function load (url, context, next) {
  if (!/^file:.*\.m?ts$/.test(url)) return next(url, context)
  return { format: 'module', source: strip(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true }
}
