// How the tables are made, checked and removed. Each statement of DDL commits by itself: a cut migration is continued.

import { createHash } from 'node:crypto'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Opened, OpenOptions, SchemaRequirements, Searchable } from '../../../lib/storage/storage.ts'
import { sameValues, schemaBehind } from '../tables/schema-errors.ts'
import { recount, wrongBlocks } from './counting.ts'
import type { Access, accessTo } from './connections.ts'
import { isNoTable, Violation } from './driver.ts'
import { checkSettings } from './settings.ts'
import type { Query } from './sql.ts'
import { creation, objectsOf, removal, SCHEMA_VERSION, type Tables } from './tables.ts'
import { putWords, userIn } from './users.ts'

const PART = 1000
// A migration of another process may take so long.
const LOCK_SECONDS = 86_400

/** What the store was opened for. */
export interface State { version: number, compatibleFrom: number, unique: string[], searchable: string | null }

export function createSchema (access: ReturnType<typeof accessTo>, tables: Tables) {
  const { of } = tables
  const name = createHash('sha256').update(tables.prefix).digest('hex').slice(0, 32)

  /** null: there are no tables yet, or not all of them. */
  async function stateIn (query: Query, isLocked = false): Promise<State | null> {
    try {
      const { rows: [row] } = await query(`SELECT * FROM ${of('state')}${isLocked ? ' FOR UPDATE' : ''}`)
      if (row === undefined) return null
      return {
        version: Number(row['schema_version']),
        compatibleFrom: Number(row['compatible_from']),
        unique: JSON.parse(String(row['unique_fields'])),
        searchable: row['searchable'] == null ? null : String(row['searchable'])
      }
    } catch (error) {
      if (isNoTable(error)) return null
      throw error
    }
  }

  /** Runs statements that commit by themselves, apart from other processes. */
  const apart = <Result>(work: (query: Query) => Promise<Result>): Promise<Result> => access.alone(async (query) => {
    const lock = `concat('fastify-users ', ${`'${name}'`}, left(sha2(database(), 256), 16))`
    const { rows: [got] } = await query(`SELECT GET_LOCK(${lock}, ${LOCK_SECONDS}) AS got`)
    if (Number(got?.['got']) !== 1) throw new StorageError('unavailable', 'another process migrates the tables')
    try {
      return await work(query)
    } finally {
      await query(`SELECT RELEASE_LOCK(${lock})`).catch(() => {})
    }
  })

  const create = (): Promise<boolean> => apart(async (query) => {
    if (await stateIn(query) !== null) return false
    for (const statement of creation(tables)) await query(statement)
    return true
  })

  async function makeUnique (query: Query, field: string): Promise<void> {
    await query(`UPDATE ${of('fieldValues')} AS v JOIN ${of('users')} AS u ON u.id = v.id SET v.unique_in = u.tenant ` +
      'WHERE v.field = ?', [field])
      .catch((error: unknown) => {
        if (!(error instanceof Violation)) throw error
        throw sameValues(field)
      })
  }

  const require = ({ unique = [], searchable }: OpenOptions): Promise<void> => access.long(async (query) => {
    const before = await stateIn(query, true)
    const known = before?.unique ?? []
    for (const field of unique) if (!known.includes(field)) await makeUnique(query, field)
    await query(`UPDATE ${of('state')} SET unique_fields = ?`, [JSON.stringify([...new Set([...known, ...unique])])])
    if (searchable === undefined || searchable.key === before?.searchable) return
    await query(`UPDATE ${of('state')} SET searchable = ?`, [searchable.key])
    await rewriteWords(query, searchable)
  })

  const rewriteWords = (query: Query, searchable: Searchable): Promise<void> =>
    eachOtherWords(query, searchable, async (id, words) => {
      await query(`UPDATE ${of('users')} SET field_words = ? WHERE id = ?`, [JSON.stringify(words), id])
      await putWords(query, tables, [{ id, words: { fieldWords: words } }])
    })

  /** Calls back for each user whose stored words differ from those of its fields, with the right ones. */
  async function eachOtherWords (
    query: Query, { wordsOf }: Searchable, found: (id: string, words: readonly string[]) => Promise<void>
  ): Promise<void> {
    for (let last = ''; ;) {
      const { rows } = await query(
        `SELECT record, field_words FROM ${of('users')} WHERE id > ? ORDER BY id LIMIT ?`, [last, PART])
      for (const row of rows) {
        const { id, fields } = userIn(row)
        const words = wordsOf(fields)
        if (JSON.stringify(words) !== row['field_words']) await found(id, words)
        last = id
      }
      if (rows.length < PART) return
    }
  }

  /** What is not there yet, as an error; null: nothing. @throws StorageError for later tables */
  function lackOf (state: State | null, { unique = [], searchable }: OpenOptions): StorageError | null {
    if (state === null) return schemaBehind('there are no tables, or not all of them', 'open({ migrate: true })')
    if (state.compatibleFrom > SCHEMA_VERSION) throw newer()
    const others = unique.filter((field) => !state.unique.includes(field))
    if (others.length > 0) {
      const problem = `nothing keeps ${others.join(', ')} unique`
      return schemaBehind(problem, 'open({ migrate: true, unique })', `--unique ${others.join()}`)
    }
    if (searchable === undefined || searchable.key === state.searchable) return null
    return schemaBehind('the search words of users come from other fields', 'open({ migrate: true, searchable })')
  }

  /** What users were last asked to be found by. */
  let searched: Searchable | null = null

  const counted = `SELECT count(*) AS users, (SELECT coalesce(sum(users), 0) FROM ${of('userCounts')}) AS counted,
      (SELECT count(*) FROM ${of('userCounts')} AS c
        WHERE c.users <> (SELECT count(*) FROM ${of('users')} AS u WHERE u.tenant = c.tenant)) +
      (${wrongBlocks(tables)}) AS wrong
    FROM ${of('users')}`

  const reports = {
    async rollback (version: number): Promise<void> {
      if (!Number.isInteger(version) || version < 0 || version > SCHEMA_VERSION) {
        throw new TypeError(`fastify-users: there is no version ${version} of the tables`)
      }
      const state = await access.read(stateIn)
      if (state !== null && state.version > SCHEMA_VERSION) throw newer()
      if (version === 0) await apart(async (query) => { for (const each of removal(tables)) await query(each) })
    },

    async inspect ({ unique = [], searchable }: SchemaRequirements = {}) {
      const state = await access.read(stateIn)
      const { rows } = state === null
        ? { rows: [] }
        : await access.read((query) => query('SELECT DISTINCT table_name AS t, index_name AS i ' +
            'FROM information_schema.statistics WHERE table_schema = database()'))
      const found = new Set(rows.map((row) => `${row['t']}.${row['i']}`))
      return {
        version: state?.version ?? 0,
        latest: SCHEMA_VERSION,
        profile: 'classic' as const,
        compatibleFrom: state?.compatibleFrom ?? 0,
        pending: state === null ? ['1 tables'] : [],
        missing: state === null ? [] : objectsOf(tables).filter((name) => !found.has(name)),
        unindexed: new Array<string>(),
        notUnique: unique.filter((field) => state?.unique.includes(field) !== true),
        searchable: state?.searchable ?? '',
        searchesOthers: searchable !== undefined && searchable.key !== (state?.searchable ?? '')
      }
    },

    verifyCounts: () => access.read(async (query) => {
      const { rows: [row] } = await query(counted)
      const of = (name: string): number => Number(row?.[name])
      return { users: of('users'), counted: of('counted'), wrong: of('wrong'), malformed: [] }
    }),

    rebuildCounts: () => access.long(async (query) => {
      await query(`DELETE FROM ${of('userCounts')}`)
      await recount(query, tables)
      await query(`INSERT INTO ${of('userCounts')} SELECT tenant, count(*) FROM ${of('users')} GROUP BY tenant`)
    }),

    async verifyWords (): Promise<number> {
      const searchable = searched
      if (searchable === null) return 0
      let others = 0
      await access.snapshot((query) => eachOtherWords(query, searchable, async () => { others++ }))
      return others
    },

    async rebuildWords (): Promise<void> {
      const searchable = searched
      if (searchable === null) return
      await access.long((query) => rewriteWords(query, searchable))
    }
  }

  const newer = (): StorageError => new StorageError('schema_newer', 'the tables are those of a later version')

  return {
    async open (options: OpenOptions = {}): Promise<Opened> {
      const { migrate = false, searchable } = options
      if (searchable !== undefined) searched = searchable
      await access.read(checkSettings)
      let state = await access.read(stateIn)
      const created = state === null && migrate && await create()
      state ??= migrate ? await access.read(stateIn) : null
      const lack = lackOf(state, options)
      if (lack === null) return { created }
      if (!migrate) throw lack
      await require(options)
      return { created }
    },

    /** A change of the schema would commit the transaction. */
    async openWithin (within: Access, options: OpenOptions): Promise<Opened> {
      const lack = lackOf(await within.read(stateIn), options)
      if (lack !== null) throw lack
      return { created: false }
    },

    reports
  }
}
