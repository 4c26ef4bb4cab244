import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { KnexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { commandFirst } from '../../cli/common.ts'
import { EXIT, failureOf } from '../../cli/failure.ts'
import { buildProgram } from '../../cli/program.ts'
import users, { type UsersOptions } from '../../lib/index.ts'
import { from } from './level.ts'
import { plainNode } from './plain-node.ts'
import { sqliteHost } from './sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from './stores.ts'

/** A finished command: its exit code, and what it wrote to standard output and to standard error. */
export interface Ran { code: number | null, out: string, err: string }

// What is written beside a command, such as the lines of tap, is none of its.
const running = new AsyncLocalStorage<Ran>()
for (const [stream, name] of [[process.stdout, 'out'], [process.stderr, 'err']] as const) {
  const { write } = stream
  stream.write = (...given: unknown[]): boolean => {
    const ran = running.getStore()
    if (ran === undefined) return Reflect.apply(write, stream, given)
    const [text, done] = given
    ran[name] += String(text)
    if (typeof done === 'function') done()
    return true
  }
}

/** Variables of this process until they are given back; undefined: it has none. */
function withVariables (env: Record<string, string | undefined>): () => void {
  const set = (values: typeof env): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]))
  set(env)
  return () => set(before)
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Runs a command in this process, one at a time, as cli/main.ts does: a process for each takes a third of a second.
 * Where the process matters, it is `runProgram` or `start`.
 */
export async function run (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const ran: Ran = { code: EXIT.ok, out: '', err: '' }
  const giveBack = withVariables({ DATABASE_URL: undefined, FASTIFY_USERS_PEPPER: undefined, FORCE_COLOR: '0', ...env })
  const listeners = SIGNALS.map((signal) => process.listeners(signal))
  try {
    const program = buildProgram('0.0.0', (text) => { ran.out += text })
    await running.run(ran, () => program.parseAsync(commandFirst(args), { from: 'user' }))
  } catch (error) {
    if (error instanceof CommanderError) ran.code = error.exitCode === 0 ? EXIT.ok : EXIT.usage
    else {
      const { message, exitCode } = failureOf(error)
      ran.err += `${message}\n`
      ran.code = exitCode
    }
  } finally {
    giveBack()
    // The listeners of a process that ends with its command.
    for (const [n, signal] of SIGNALS.entries()) {
      const added = process.listeners(signal).filter((each) => listeners[n]?.includes(each) === false)
      for (const each of added) process.off(signal, each)
    }
  }
  return ran
}

/** The command of the built program in a process of its own. */
export const programOf = (args: readonly string[]): [command: string, args: string[]] =>
  plainNode(join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js'), ...args)

/** Starts the built program in a process of its own. */
export function start (args: readonly string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
  return spawn(...programOf(args), { env: { PATH: String(process.env['PATH']), ...env } })
}

/** How a process ends, and what it writes from now on. */
export async function endOf (child: ChildProcess): Promise<Ran & { signal: string | null }> {
  let [out, err] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text) => { out += text })
  child.stderr?.setEncoding('utf8').on('data', (text) => { err += text })
  const [code, signal] = await once(child, 'close')
  return { code, signal, out, err }
}

/** Runs the built program in a process of its own. */
export async function runProgram (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { signal, ...ran } = await endOf(start(args, env))
  return ran
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
  /** The name of a table for `--table`. */
  tableOf (name: string): string
  /** Runs a command on it. */
  cli (...words: string[]): Promise<Ran>
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
    create: newSqlite
  },
  {
    name: 'postgres',
    skip: from('nightly'),
    create: newPostgres
  }
]

async function newSqlite (t: Test): Promise<Database> {
  const filename = join(await temporaryDirectory(t), 'deep', 'users.db')
  const url = `sqlite:${filename}`
  const owner = sqliteHost(filename)
  t.teardown(() => owner.destroy())
  return {
    url,
    args: [],
    open: () => sqlite({ filename }),
    execute: async (statement) => { await owner.raw(statement.replace(SCHEMA, '')) },
    tableOf: (name) => name,
    cli: (...words) => run(words, { DATABASE_URL: url })
  }
}

/** A new schema of PostgreSQL for the program. */
export async function newPostgres (t: Test): Promise<Database> {
  const schema = temporarySchema(t)
  const [url, args] = [pgUrl(), ['--schema', schema]]
  return {
    url,
    args,
    open: () => postgres({ connection: url, schema }),
    execute: (statement) => sql(statement.replace(SCHEMA, `"${schema}".`)),
    tableOf: (name) => `${schema}.${name}`,
    cli: (...words) => run([...words, ...args], { DATABASE_URL: url })
  }
}

/** A new SQLite file with the tables of the package. */
export async function migrated (t: Test): Promise<Database> {
  const database = await newSqlite(t)
  await database.cli('migrate')
  return database
}

/** A server beside the program, on a database that it has migrated. */
export async function serverOn (
  t: Test, { open }: Pick<Database, 'open'>, options: Partial<UsersOptions> = {}
): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: open(), ...options })
  return app
}
