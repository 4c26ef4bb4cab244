import type { Command } from 'commander'
import type { KnexStorage } from '../adapters/knex/index.ts'
import { DEFAULT_KEY_PREFIX } from '../lib/api-keys/key-text.ts'
import { type Call, FROM_PROCESS } from '../lib/core/context.ts'
import { isTenant, TENANT_FORM } from '../lib/core/tenant.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { UsageError } from './failure.ts'
import { inOptions } from './option-names.ts'
import { createOutput, type Output } from './output.ts'

/** The options that all commands have. */
export type Common = DatabaseOptions & { json?: boolean }

const URLS = 'postgres://<user>:<password>@<host>/<database>, mariadb:// likewise, or sqlite:<path>'

/** Adds the options that all commands have. */
export function withCommonOptions (command: Command): Command {
  return command
    .option('-d, --database <url>', `${URLS}; default: the environment variable DATABASE_URL, which keeps a password ` +
      'out of the list of processes')
    .option('--schema <name>', 'PostgreSQL: the schema of the tables')
    .option('--table-prefix <prefix>', 'prefix of the tables (default: "fastify_users_")')
    .option('--pooler', 'PostgreSQL: the connection goes through a pooler such as PgBouncer')
    .option('--profile <profile>', 'PostgreSQL: profile of the tables, classic or portable; default: the present one')
    .option('--json', 'answer in JSON')
}

/** The options of {@link withCommonOptions} and `--tenant`, with whether they have a value. */
const COMMON = new Map([
  ['-d', true], ['--database', true], ['--schema', true], ['--table-prefix', true], ['--profile', true],
  ['--tenant', true], ['--pooler', false], ['--json', false]
])
/** Words that a command has at most. */
const COMMAND_WORDS = 3

/** Arguments with the options of all commands behind the command, wherever they stood: only it knows them. */
export function commandFirst (args: readonly string[]): string[] {
  const before: string[] = []
  const moved: string[] = []
  let at = 0
  for (; at < args.length && before.length < COMMAND_WORDS; at++) {
    const each = args[at] ?? ''
    const [name = ''] = each.startsWith('--') ? each.split('=') : [each.slice(0, 2)]
    const hasValue = COMMON.get(name)
    if (hasValue === undefined && each.startsWith('-')) break
    if (hasValue === undefined) before.push(each)
    else moved.push(each, ...hasValue && name === each ? args.slice(++at, at + 1) : [])
  }
  return [...before, ...moved, ...args.slice(at)]
}

/** The option of commands that can be about one tenant. */
export interface TenantOptions {
  tenant?: string
}

/** Adds the option of commands that can be about one tenant. `help`: what it does for the command. */
export function withTenantOption (command: Command, help: string): Command {
  return withCommonOptions(command).option('--tenant <name>', `${help}, of a server with the option tenants`)
}

/** The option of commands that make keys. */
export const KEY_PREFIX = [
  '--key-prefix <prefix>', `the option apiKeys.prefix of the server (default: "${DEFAULT_KEY_PREFIX}")`
] as const

/** Adds the options of commands that make a new key. */
export function withNewKeyOptions (command: Command): Command {
  return command
    .option('--expires-in <time>', 'seconds, or 15m, 24h, 30d (default: 365d)')
    .option('--expires-at <moment>', 'an RFC 3339 date and time')
    .option('--no-expires', 'it never expires')
    .option('--owner <text>', 'who is responsible for the key, as a note for people')
    .option('--addresses <list>', 'networks that the key works from, in CIDR form, separated by commas (default: any)')
    .option('--rate-limit <limit>', 'requests per period, instead of the limit of the server: 600/1m')
    .option(...KEY_PREFIX)
}

/** @throws UsageError for what is no name of a tenant */
export function requireTenant (tenant: string, place: string): void {
  if (!isTenant(tenant)) throw new UsageError(`${place} ${TENANT_FORM}`)
}

/** The tenant of the options; undefined: all of them. @throws UsageError */
export function tenantOf ({ tenant }: TenantOptions): string | undefined {
  if (tenant !== undefined) requireTenant(tenant, '--tenant')
  return tenant
}

/** A service, and the call of whoever uses it here. */
export interface Bound<Service> {
  service: Service
  call: Call
}

/** Where the calls of a command come from. @throws UsageError */
export function callOf (options: TenantOptions): Call {
  return { ...FROM_PROCESS, tenant: tenantOf(options) }
}

type Work = (storage: KnexStorage, output: Output) => Promise<void>

/** How a command uses the database. */
interface Use {
  /** It makes a missing SQLite file. */
  creates?: boolean
  /** It takes rows in, so that pointers of errors lead into these. */
  takesRows?: boolean
}

/** Opens the database for the work, and closes it afterwards in any case. Errors name the options that they are of. */
export async function withStorage (
  options: Common, work: Work, { creates: create = false, takesRows = false }: Use = {}
): Promise<void> {
  const storage = openDatabase(options, { create })
  try {
    await work(storage, createOutput(options.json === true))
  } catch (error) {
    throw inOptions(error, options, { takesRows })
  } finally {
    await storage.close()
  }
}
