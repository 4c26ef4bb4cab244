// Settings that a host may have on its connections change nothing of what a store answers, or it says at the start that
// it can't work with them.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { mariadb } from '../../adapters/mariadb.ts'
import { testApp } from '../helpers/app.ts'
import { EACH_WAY } from '../helpers/each-kind.ts'
import { isOfTransactions, onHosts, runDuties } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import {
  mariadbHost, mariadbSql, mariadbUrl, recycledDatabases, temporaryDatabase, withoutMariadb
} from '../helpers/mariadb.ts'
import { migrated } from '../helpers/migrated.ts'

/** A host whose connections begin with statements. */
interface Connection { query (sql: string, done: (error: unknown) => void): void }

function hostWith (database: string, statements: readonly string[]) {
  const afterCreate = (connection: Connection, done: (error: unknown, connection: Connection) => void) => {
    const next = (n: number): void => {
      const statement = statements[n]
      if (statement === undefined) return done(null, connection)
      connection.query(statement, (error) => error == null ? next(n + 1) : done(error, connection))
    }
    next(0)
  }
  return mariadbHost(database, { pool: { min: 0, max: 8, afterCreate } })
}

const set = (name: string, value: string) => `SET SESSION ${name} = ${value}`

/** Each group is set together. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  'what texts mean': [
    set('sql_mode', "'ANSI,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,HIGH_NOT_PRECEDENCE,PAD_CHAR_TO_FULL_LENGTH'"),
    'SET NAMES latin1', set('character_set_results', 'utf8mb4'), set('collation_connection', 'latin1_german2_ci'),
    set('lc_messages', "'de_DE'"), set('lc_time_names', "'de_DE'"), set('time_zone', "'+05:45'"),
    set('sql_auto_is_null', '1'), set('div_precision_increment', '0'), set('group_concat_max_len', '4'),
    set('collation_server', 'utf8mb4_turkish_ci'), set('collation_database', 'latin1_swedish_ci')
  ],
  'another charset and SERIALIZABLE': [
    set('sql_mode', "'TRADITIONAL,REAL_AS_FLOAT,NO_UNSIGNED_SUBTRACTION'"), set('character_set_client', 'gbk'),
    set('collation_connection', 'gbk_chinese_ci'), set('tx_isolation', "'SERIALIZABLE'"),
    set('default_storage_engine', 'MyISAM'), set('check_constraint_checks', '0'), set('old_mode', "''"),
    set('wait_timeout', '3600'), set('max_statement_time', '20')
  ],
  plans: [
    set('tx_isolation', "'READ-COMMITTED'"),
    set('optimizer_switch', "'index_merge=off,semijoin=off,materialization=off'"),
    set('in_predicate_conversion_threshold', '2'), set('optimizer_use_condition_selectivity', '1'),
    set('tmp_table_size', '1024'), set('join_buffer_size', '128'), set('sort_buffer_size', '65536'),
    set('eq_range_index_dive_limit', '1'), set('optimizer_search_depth', '1'), set('use_stat_tables', "'never'"),
    set('max_heap_table_size', '16384')
  ]
}

for (const [name, statements] of Object.entries(harmless)) {
  test(`${name}: ${statements.length} settings`, { skip: from('ci') || withoutMariadb }, async (t) => {
    const create = onHosts((place) => ({ host: hostWith(place, statements) }), (at) => recycledDatabases(t, at))
    const isAll = from('nightly') === false
    runDuties(t, create, (duty) => (isAll && !isOfTransactions(duty)) || EACH_WAY.includes(duty))
  })
}

const unfit: ReadonlyArray<[statement: string, message: RegExp]> = [
  [set('sql_mode', "''"), /^sql_mode is not strict/],
  [set('sql_mode', "'ORACLE,STRICT_ALL_TABLES'"), /^sql_mode has ORACLE/],
  [set('sql_mode', "'EMPTY_STRING_IS_NULL,STRICT_ALL_TABLES'"), /^sql_mode has EMPTY_STRING_IS_NULL/],
  ['SET NAMES latin1', /^character_set_results is another one/],
  [set('tx_isolation', "'READ-UNCOMMITTED'"), /^tx_isolation is READ-UNCOMMITTED/],
  [set('autocommit', '0'), /^autocommit is off/],
  [set('foreign_key_checks', '0'), /^foreign_key_checks is off/],
  [set('unique_checks', '0'), /^unique_checks is off/],
  [set('sql_safe_updates', '1'), /^sql_safe_updates is on/],
  ['SET SESSION TRANSACTION READ ONLY', /^tx_read_only is on/],
  [set('max_join_size', '10'), /^sql_big_selects is off/],
  [set('sql_select_limit', '10'), /^sql_select_limit is set/],
  [set('max_sort_length', '64'), /^max_sort_length is less/],
  [set('sort_buffer_size', '1024'), /^sort_buffer_size is less/],
  [set('completion_type', '1'), /^completion_type is set/]
]

test('what is refused is told in any language of the server', { skip: from('ci') || withoutMariadb }, async (t) => {
  const database = await temporaryDatabase(t)
  const person = { name: 'Ann', email: 'ann@example.org' }
  for (const language of ['en_US', 'de_DE', 'cs_CZ', 'hu_HU', 'ja_JP', 'sk_SK']) {
    const host = hostWith(database, [set('lc_messages', `'${language}'`)])
    t.teardown(() => host.destroy())
    const { app: { users } } = await testApp(t, { storage: knexStorage(host) })
    if (language === 'en_US') await users.create(person)
    await t.rejects(users.create(person), { code: 'email_taken' }, language)
  }
})

test('what a store can’t work with', { skip: from('ci') || withoutMariadb }, async (t) => {
  const database = await temporaryDatabase(t)
  const own = await migrated(t, mariadb({ connection: mariadbUrl(database) }))
  await t.rejects(own.open({ unique: ['plan', 'city'] }), {
    code: 'schema_behind',
    message: /^nothing keeps plan, city unique: run npx fastify-users migrate --unique plan,city, /
  })
  const nowhere = mariadb({ connection: mariadbUrl('nowhere') })
  t.teardown(() => nowhere.close())
  await t.rejects(nowhere.open(), { message: 'the database does not exist (ER_BAD_DB_ERROR)' })
  for (const [statement, message] of unfit) {
    const host = hostWith(database, [statement])
    t.teardown(() => host.destroy())
    await t.rejects(knexStorage(host).open(), { code: 'fault', message })
  }
  // Sessions of our own have none of it, whatever the server's defaults are.
  const defaults = ["sql_mode = ''", 'foreign_key_checks = 0', 'sql_safe_updates = 1', 'completion_type = 1']
  const names = defaults.map((each) => each.split(' ')[0])
  const [before = {}] = await mariadbSql([`SELECT ${names.map((name) => `@@global.${name} AS ${name}`).join(', ')}`])
  t.teardown(() => mariadbSql(Object.entries(before).map(([name, value]) =>
    `SET GLOBAL ${name} = ${typeof value === 'number' ? value : `'${value}'`}`)))
  await mariadbSql(defaults.map((each) => `SET GLOBAL ${each}`))
  const fresh = mariadb({ connection: mariadbUrl(database) })
  t.teardown(() => fresh.close())
  t.strictSame(await fresh.open(), { created: false })
})
