import { execFile } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { KnexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { from } from './level.ts'
import { plainNode } from './plain-node.ts'
import { sqliteHost } from './sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from './stores.ts'

/** The built program. */
export const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js')

/** A finished process: its exit code, and what it wrote to standard output and to standard error. */
export interface Ran { code: number | null, out: string, err: string }

/** Runs the built program in a process of its own. */
export function run (args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const options = { env: { PATH: String(process.env['PATH']), ...env } }
  return new Promise((resolve) => {
    const child = execFile(...plainNode(PROGRAM, ...args), options, (_error, out, err) => {
      resolve({ code: child.exitCode, out, err })
    })
  })
}

/** Stands for the schema of tables: `@users`; within an address it does not. */
const SCHEMA = /(?<!\w)@(?=[a-z{])/g

/** A new database for the program. */
export interface Database {
  url: string
  /** Options that every command needs. */
  args: string[]
  open (): KnexStorage
  /** Runs SQL as the owner of the tables; `@` before a name stands for their schema. */
  execute (statement: string): Promise<unknown>
}

/** The databases, and why commands that know no difference between them are not run on one in this run. */
export const databases: ReadonlyArray<{
  name: string
  skip: string | false
  create (t: Test): Promise<Database>
}> = [
  {
    name: 'sqlite',
    skip: false,
    async create (t) {
      const filename = join(await temporaryDirectory(t), 'deep', 'users.db')
      const owner = sqliteHost(filename)
      t.teardown(() => owner.destroy())
      return {
        url: `sqlite:${filename}`,
        args: [],
        open: () => sqlite({ filename }),
        execute: async (statement) => { await owner.raw(statement.replace(SCHEMA, '')) }
      }
    }
  },
  {
    name: 'postgres',
    skip: from('nightly'),
    async create (t) {
      const schema = temporarySchema(t)
      return {
        url: pgUrl(),
        args: ['--schema', schema],
        open: () => postgres({ connection: pgUrl(), schema }),
        execute: (statement) => sql(statement.replace(SCHEMA, `"${schema}".`))
      }
    }
  }
]
