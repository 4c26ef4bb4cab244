// What the coverage is taken of, as tap asks for it: the sources in lib and adapters. cli and admin run in processes
// and browsers of their own. tap hands each process the paths in one environment variable, which Linux limits to
// 128 KiB: what is covered is named, since that is less than what is not.
import { readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { loads } from './loads.mjs'

/** The drivers that this machine lacks, with the reason. */
export function notCovered () {
  const driver = (name) => join('adapters', 'knex', 'drivers', `${name}.ts`)
  const reason = 'node:sqlite needs Node.js 22.13 or later'
  const old = isBuiltin('node:sqlite') ? [] : ['node-sqlite-client', 'node-sqlite']
  return [
    ...old.map((name) => ({ path: driver(name), reason })),
    ...['better-sqlite3', 'sqlite3'].filter((name) => !loads(name))
      .map((name) => ({ path: driver(name), reason: `${name} is not installed: npm run drivers` }))
  ]
}

const left = notCovered().map(({ path }) => path)
const covered = ['adapters', 'lib'].flatMap((directory) =>
  readdirSync(directory, { recursive: true }).map((name) => join(directory, name))
).filter((path) => path.endsWith('.ts') && !left.includes(path))

/** Each test may run each of them. */
export default () => covered
