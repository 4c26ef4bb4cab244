// Settings that a role, a database or a connection may have change nothing of what a store answers, or check() says
// that it can't work with them.
import type pg from 'pg'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { TABLES } from '../helpers/each-kind.ts'
import { transactionsOf } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { migrated } from '../helpers/migrated.ts'
import { connectPg, pgHost, pgUrlWith } from '../helpers/postgres.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, temporarySchema } from '../helpers/stores.ts'
import { emptying, IN_TURN, ownAndHost, runInTurn, WAYS_IN_TURN } from './each-kind-in-turn.ts'

const off = (name: string): [name: string, value: string] => [`enable_${name}`, 'off']

/** Settings of PostgreSQL, each with a value that a statement may not expect. */
const settings: ReadonlyArray<readonly [name: string, value: string]> = [
  // What a text means.
  ['array_nulls', 'off'], ['transform_null_equals', 'on'], ['standard_conforming_strings', 'off'],
  ['backslash_quote', 'off'], ['quote_all_identifiers', 'on'], ['extra_float_digits', '-15'],
  ['DateStyle', 'German'], ['DateStyle', 'SQL, DMY'], ['DateStyle', 'Postgres, MDY'],
  ['IntervalStyle', 'sql_standard'], ['bytea_output', 'escape'], ['xmlbinary', 'hex'],
  ['default_text_search_config', 'pg_catalog.russian'],
  ['TimeZone', 'Asia/Kathmandu'], ['TimeZone', 'Africa/Monrovia'], ['TimeZone', 'America/St_Johns'],
  // As POSIX reads it: a zone that is called UTC, five hours behind it.
  ['TimeZone', 'UTC+5'], ['TimeZone', '<GMT>-3'], ['timezone_abbreviations', 'Australia'],
  // Where names are looked up, and how functions are compiled.
  ['search_path', ''], ['search_path', 'pg_temp'], ['search_path', 'nowhere'], ['row_security', 'off'],
  ['plpgsql.variable_conflict', 'use_column'], ['plpgsql.variable_conflict', 'use_variable'],
  ['plpgsql.extra_errors', 'all'], ['check_function_bodies', 'off'],
  ['restrict_nonsystem_relation_kind', 'view, foreign-table'],
  // How transactions begin, and how long they may take.
  ['default_transaction_isolation', 'serializable'], ['default_transaction_isolation', 'repeatable read'],
  ['default_transaction_deferrable', 'on'], ['synchronous_commit', 'off'], ['statement_timeout', '20s'],
  ['lock_timeout', '10s'], ['idle_in_transaction_session_timeout', '10s'],
  // Plans.
  ['plan_cache_mode', 'force_generic_plan'], ['plan_cache_mode', 'force_custom_plan'],
  ...['seqscan', 'indexscan', 'indexonlyscan', 'bitmapscan', 'sort', 'incremental_sort', 'nestloop', 'hashjoin',
    'mergejoin', 'hashagg', 'material'].map(off),
  ['from_collapse_limit', '1'], ['join_collapse_limit', '1'], ['geqo_threshold', '2'], ['jit_above_cost', '0'],
  ['debug_parallel_query', 'regress'], ['work_mem', '64kB'], ['random_page_cost', '0'], ['cursor_tuple_fraction', '0'],
  // What is said beside the answers.
  ['client_min_messages', 'debug5'], ['stats_fetch_consistency', 'snapshot']
]

/** The option of a connection that sets a setting. */
const optionOf = (name: string, value: string): string => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`

// Texts, moments and names as they are kept, compared, ordered and found: all that other values of a setting of the
// first group can change.
const OF_VALUES = [
  /^commit: (?:a row of every|an address)/, /^list: pages of (?:trash|deliveries)/,
  /^log\.(?:prune: takes|read: pages)/, /^join: writes/, /\bmoments? /
]
const ofValues = IN_TURN.filter((duty) => OF_VALUES.some((kind) => kind.test(duty)))

/** Runs duties on one schema, in turn on a pool of our own and on a host's instance. */
async function runOnPostgres (t: Test, options: string, duties: readonly string[]): Promise<void> {
  const schema = temporarySchema(t)
  const admin = await connectPg(t)
  const { own, subjectsWith } = ownAndHost(t, pgUrlWith({ options }), schema)
  await own.open({ migrate: true })
  await runInTurn(t, subjectsWith(), () => admin.query(emptying(schema)), duties)
}

/** Settings that are set together: at night each alone, otherwise all of different names. */
function together (all: typeof settings): Array<typeof settings> {
  const isAlone = from('nightly') === false
  const groups: Array<Array<(typeof settings)[number]>> = []
  for (const setting of all) {
    const group = groups.find((each) => !isAlone && each.every(([name]) => name !== setting[0]))
    if (group === undefined) groups.push([setting])
    else group.push(setting)
  }
  return groups
}

const named = (group: typeof settings): string => group.map((setting) => setting.join(' = ')).join(', ')

test('PostgreSQL: a store answers the same under any setting', { jobs: 4 }, async (t) => {
  for (const [i, group] of together(settings).entries()) {
    const options = group.map(([name, value]) => optionOf(name, value)).join(' ')
    const duties = i === 0 || from('nightly') === false ? WAYS_IN_TURN : ofValues
    t.test(named(group), { buffered: true }, (t) => runOnPostgres(t, options, duties))
  }
})

/** Settings of PostgreSQL with which a store can't work, and what migrate() and check() say. */
const unfit: ReadonlyArray<readonly [name: string, value: string, message: string, code?: string]> = [
  ['default_transaction_read_only', 'on', 'the database accepts no writes: default_transaction_read_only is on for ' +
    'it, the role or the connection', 'unavailable'],
  ['client_encoding', 'LATIN1', 'client_encoding is LATIN1 on the connection, so names would be altered when stored: ' +
    'leave it at UTF8'],
  ['search_path', 'public, pg_catalog', 'the search path is public, pg_catalog, so operators of other schemas ' +
    'precede those of PostgreSQL: remove pg_catalog from it, or name it first'],
  ['TimeZone', '<z>5', 'the time zone of the connection is <Z>5, in which Z does not mean UTC: set another one'],
  ['session_replication_role', 'replica', 'session_replication_role is replica on the connection, so the triggers ' +
    'that count users do not run: leave it at origin'],
  ['exit_on_error', 'on', 'exit_on_error is on for the connection, so a refused write would close the connection: ' +
    'set it to off']
]

test('PostgreSQL: refuses settings that it cannot work with, and says what to do', async (t) => {
  const schema = temporarySchema(t)
  await migrated(t, postgres({ connection: pgUrl(), schema, pool: { max: 1 }, listen: false }))
  for (const [name, value, message, code = 'fault'] of unfit) {
    // The driver sets its encoding with the connection.
    const afterCreate = (client: pg.Client, done: (error: Error | null) => void) =>
      client.query(`SET ${name} = ${name === 'search_path' ? value : `'${value}'`}`, done)
    const storage = knexStorage(pgHost(t, { pool: { min: 0, max: 1, afterCreate } }), { schema })
    await t.rejects(storage.open(), { code, message })
    await t.rejects(storage.open({ migrate: true }), { code, message })
  }
})

// Those that change what a statement means, or what it answers.
const pragmas: typeof settings = [
  ...['case_sensitive_like', 'reverse_unordered_selects', 'foreign_keys', 'recursive_triggers', 'defer_foreign_keys',
    'ignore_check_constraints', 'legacy_alter_table', 'read_uncommitted', 'writable_schema', 'count_changes',
    'empty_result_callbacks'].map((name) => [name, 'ON'] as const),
  ...['foreign_keys', 'trusted_schema', 'short_column_names', 'automatic_index'].map((name) => [name, 'OFF'] as const)
]

for (const [i, group] of together(pragmas).entries()) {
  const name = `SQLite: a store on an instance of the host answers the same under ${named(group)}`
  // Before the night the second has one alone, the default of SQLite, which conformance-host.test.ts has on a driver.
  test(name, { skip: i > 0 && from('nightly') }, async (t) => {
    const host = sqliteHost(':memory:')
    t.teardown(() => host.destroy())
    for (const [name, value] of group) await host.raw(`PRAGMA ${name} = ${value}`)
    const empty = async () => {
      for (const table of TABLES) await host.raw(`DELETE FROM fastify_users_${table}`)
    }
    await runInTurn(t, () => ({ storage: knexStorage(host), begin: transactionsOf(host) }), empty, WAYS_IN_TURN)
  })
}

test('SQLite: refuses settings that it cannot work with, and says what to do', async (t) => {
  for (const [pragma, message] of [
    ['encoding = "UTF-16le"', 'the database file has the encoding UTF-16le, which sorts texts differently: create ' +
      'it with UTF-8, the default'],
    ['full_column_names = ON', 'PRAGMA full_column_names is on for the connection, so columns have other names: ' +
      'leave it off'],
    ['query_only = ON', 'the connection accepts no writes: PRAGMA query_only is on']
  ] as const) {
    const host = sqliteHost(':memory:')
    t.teardown(() => host.destroy())
    await host.raw(`PRAGMA ${pragma}`)
    const storage = knexStorage(host)
    await t.rejects(storage.open({ migrate: true }), { code: 'fault', message })
    await t.rejects(storage.open(), { code: 'fault', message })
  }
})
