import type { CountsReport, KnexStorage, SchemaReport } from '../adapters/knex/index.ts'
import { searchableOf } from '../lib/fields/searched-fields.ts'
import { isFilterable } from '../lib/storage/storage-rules.ts'
import type { SchemaRequirements } from '../lib/storage/storage.ts'
import { Refusal, UsageError } from './failure.ts'
import type { Output } from './output.ts'

type Requirements = SchemaRequirements & Required<Pick<SchemaRequirements, 'filterable' | 'unique'>>

/** Options that name the fields which users are found by. */
export interface FoundByOptions {
  filterable?: string
  unique?: string
  searchable?: string
}

/** The fields that an option names, separated by commas. @throws UsageError */
function fieldsOf (option: string, list: string | undefined): string[] {
  const fields = list === undefined ? [] : list.split(',').map((name) => name.trim())
  if (fields.every(isFilterable)) return fields
  throw new UsageError(`--${option} takes names of fields separated by commas, each of 1 to 63 letters, digits and _`)
}

/** A field, and what follows it after a colon. */
function matched<Match extends string> (given: string, match: Match): { field: string, match?: Match } {
  const text = given.trim()
  return text.endsWith(`:${match}`) ? { field: text.slice(0, -match.length - 1), match } : { field: text }
}

/** What the options require of the schema. @throws UsageError */
export function requirementsOf ({ filterable, unique, searchable }: FoundByOptions): Requirements {
  const searched = searchable?.split(',').map((each) => {
    const { field, match } = matched(each, 'digits')
    if (field === '') throw new UsageError('--searchable takes names of fields separated by commas, like phone:digits')
    return { field, match: match ?? 'words' } as const
  })
  const filtered = filterable?.split(',').map((each) => {
    const { field, match } = matched(each, 'folded')
    return { field, match: match ?? 'exact' } as const
  })
  const words = searchableOf({ ...filtered && { filterable: filtered }, ...searched && { searchable: searched } })
  return {
    filterable: fieldsOf('filterable', filtered?.map(({ field }) => field).join()),
    unique: fieldsOf('unique', unique),
    ...(words !== null && { searchable: words })
  }
}

/** Migrates the tables to the version of this code, with the indexes of these fields. @throws StorageError */
export async function migrate (
  storage: KnexStorage,
  output: Output,
  requirements: Requirements
): Promise<void> {
  const before = await storage.inspect(requirements)
  await storage.open({ ...requirements, migrate: true })
  const { version, profile } = await storage.inspect()
  const applied = [
    ...before.pending,
    ...(before.version > 0 && before.profile !== profile ? [`profile ${profile}`] : []),
    ...before.unindexed.map((field) => `index of ${field}`),
    ...before.notUnique.map((field) => `unique index of ${field}`),
    ...before.searchesOthers ? ['words of the fields that are searched'] : []
  ]
  if (output.json) return output.value({ version, applied })
  if (applied.length === 0) return output.line(`The schema is at version ${version} already.`)
  const lines = [...applied.map((name) => `applied: ${name}`), `The schema is at version ${version} now.`]
  await output.line(lines.join('\n'))
}

/** True if the tables are so new that this code can't work with them. */
function isTooNew ({ latest, compatibleFrom }: SchemaReport): boolean {
  return compatibleFrom > latest
}

/** Shows the migrations to apply. @throws Refusal if there are any, or the tables are too new; StorageError */
export async function migrationStatus (storage: KnexStorage, output: Output): Promise<void> {
  const schema = await storage.inspect()
  const { version, latest, compatibleFrom, pending } = schema
  const remark = version > latest && !isTooNew(schema) ? ', which this code works with' : ''
  const lines = [`version ${version} of ${latest}${remark}`, ...pending.map((name) => `pending: ${name}`)]
  if (output.json) await output.value({ version, latest, compatibleFrom, pending })
  else await output.line(lines.join('\n'))
  if (isTooNew(schema)) throw new Refusal('The tables are newer than this code: install a newer fastify-users.')
  if (pending.length > 0) throw new Refusal('Apply them: fastify-users migrate')
}

/** To which version the tables go back, and whether that was confirmed. */
export interface RollbackOptions {
  to: string
  yes: boolean
}

/** Takes the tables back. @throws UsageError, Refusal without a confirmation, StorageError */
export async function rollback (storage: KnexStorage, output: Output, { to, yes }: RollbackOptions): Promise<void> {
  const { version: before, latest } = await storage.inspect()
  if (before > latest) throw new Refusal('The tables are newer than this code: use the fastify-users version for them.')
  const version = Number(to)
  if (!/^\d+$/.test(to) || version > before) throw new UsageError(`--to takes a version from 0 to ${before}`)
  if (version < before && !yes) {
    const lost = version === 0 ? 'All users' : `Data stored since version ${version}`
    throw new Refusal(`${lost} would be lost: take a backup, then confirm with --yes.`)
  }
  await storage.rollback(version)
  if (output.json) await output.value({ version })
  else await output.line(`The schema is at version ${version} now.`)
}

function problemsIn (schema: SchemaReport): string[] {
  const { version, latest, pending, missing, unindexed, notUnique, searchesOthers } = schema
  const at = `the tables are at version ${version}`
  return [
    ...(isTooNew(schema) ? [`${at}, this code knows ${latest}: install a newer fastify-users`] : []),
    ...(pending.length > 0 ? [`${at} of ${latest}: run fastify-users migrate`] : []),
    ...missing.map((name) => `${name} is missing or not in force: create it again with its statement, which ` +
      'migrationsSql() returns (docs/storages.md#as-sql-text), then check again'),
    ...(unindexed.length > 0
      ? [`lists filtered by ${unindexed.join(', ')} have no index: run fastify-users migrate --filterable ${unindexed}`]
      : []),
    ...(notUnique.length > 0
      ? [`no index keeps ${notUnique.join(', ')} unique: run fastify-users migrate --unique ${notUnique}`]
      : []),
    ...searchesOthers
      ? ['users are searched by other fields: run fastify-users migrate with these --searchable and --filterable']
      : []
  ]
}

function problemsOfCounts (counts: CountsReport | null, otherWords: number): string[] {
  if (counts === null) return []
  const { users, counted, wrong, malformed } = counts
  return [
    ...(wrong === 0 && users === counted
      ? []
      : [`there are ${users} users, and lists count ${counted} (${wrong} wrong numbers): ` +
          'run fastify-users check --fix']),
    ...otherWords === 0
      ? []
      : [`users who are not found by a search for their fields: ${otherWords}; run fastify-users check --fix`],
    ...malformed.map(({ constraint, users, asks }) =>
      `users that violate ${constraint} (${asks}): ${users}; fix them with SQL, or delete them`)
  ]
}

/**
 * Finds what keeps the storage from working well, and says what to do: an old schema, missing indexes or triggers,
 * wrong counts, ids of another form. `fix`: count again and make the words of fields anew first.
 * @throws Refusal if there is a problem, StorageError
 */
export async function check (
  storage: KnexStorage,
  output: Output,
  { fix }: { fix: boolean },
  requirements: Requirements
): Promise<void> {
  const schema = await storage.inspect(requirements)
  const usable = schema.version >= schema.latest && !isTooNew(schema)
  if (usable && fix) {
    await storage.rebuildCounts()
    await storage.rebuildWords()
  }
  const counts = usable ? await storage.verifyCounts() : null
  const otherWords = usable ? await storage.verifyWords() : 0
  const problems = [...problemsIn(schema), ...problemsOfCounts(counts, otherWords)]
  if (output.json) await output.value({ ...schema, counts, problems })
  else if (problems.length === 0 && counts !== null) {
    const profile = schema.profile === 'classic' ? '' : `, profile ${schema.profile}`
    const version = `schema version ${schema.version}${profile}`
    await output.line(`No problems: ${version}, ${counts.users} users, all counts correct.`)
  }
  if (problems.length > 0) throw new Refusal(problems.join('\n'))
}
