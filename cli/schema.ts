import type { CountsReport, KnexStorage, SchemaReport } from '../adapters/knex/index.ts'
import { isFilterable } from '../lib/core/storage-rules.ts'
import type { SchemaRequirements } from '../lib/core/storage.ts'
import { Refusal, UsageError } from './failure.ts'
import type { Output } from './output.ts'

/** The fields that an option names, separated by commas. @throws UsageError */
export function filterableOf (list: string | undefined): Required<SchemaRequirements> {
  const filterable = list === undefined ? [] : list.split(',').map((name) => name.trim())
  if (filterable.every(isFilterable)) return { filterable }
  throw new UsageError('--filterable takes names of fields separated by commas, each of 1 to 63 letters, digits and _')
}

/** Migrates the tables to the version of this code, with the indexes of these fields. @throws StorageError */
export async function migrate (
  storage: KnexStorage,
  output: Output,
  requirements: Required<SchemaRequirements>
): Promise<void> {
  const before = await storage.inspect(requirements)
  await storage.migrate(requirements)
  const { version } = await storage.inspect()
  const applied = [...before.pending, ...before.unindexed.map((field) => `index of ${field}`)]
  if (output.json) return output.value({ version, applied })
  if (applied.length === 0) return output.line(`The schema is at version ${version} already.`)
  output.line([...applied.map((name) => `applied: ${name}`), `The schema is at version ${version} now.`].join('\n'))
}

/** Shows the migrations to apply. @throws Refusal if there are any, StorageError */
export async function migrationStatus (storage: KnexStorage, output: Output): Promise<void> {
  const { version, latest, pending } = await storage.inspect()
  if (output.json) output.value({ version, latest, pending })
  else output.line(`version ${version} of ${latest}${pending.map((name) => `\npending: ${name}`).join('')}`)
  if (version > latest) throw new Refusal('The tables are newer than this code: install a newer fastify-users.')
  if (pending.length > 0) throw new Refusal('Apply them: fastify-users migrate')
}

function problemsIn ({ version, latest, pending, missing, unindexed }: SchemaReport): string[] {
  const at = `the tables are at version ${version}`
  return [
    ...(version > latest ? [`${at}, this code knows ${latest}: install a newer fastify-users`] : []),
    ...(pending.length > 0 ? [`${at} of ${latest}: run fastify-users migrate`] : []),
    ...missing.map((name) => `${name} is missing or not in force: create it again with the statement that ` +
      'migrationsSql() prints for it, then check again'),
    ...(unindexed.length > 0
      ? [`lists filtered by ${unindexed.join(', ')} have no index: run fastify-users migrate --filterable ${unindexed}`]
      : [])
  ]
}

function problemsOfCounts (counts: CountsReport | null): string[] {
  if (counts === null) return []
  const { users, counted, wrong, malformedIds } = counts
  return [
    ...(wrong === 0 && users === counted
      ? []
      : [`there are ${users} users, and lists count ${counted} (${wrong} wrong numbers): ` +
          'run fastify-users check --fix']),
    ...(malformedIds === 0
      ? []
      : [`users with malformed ids, which are listed and not found by id: ${malformedIds}; give them ids of the form ` +
          'usr_ and 26 characters of base32 with SQL, or delete them'])
  ]
}

/**
 * Finds what keeps the storage from working well, and says what to do: an old schema, missing indexes or triggers,
 * wrong counts, ids of another form. `fix`: count again first.
 * @throws Refusal if there is a problem, StorageError
 */
export async function check (
  storage: KnexStorage,
  output: Output,
  { fix }: { fix: boolean },
  requirements: Required<SchemaRequirements>
): Promise<void> {
  const schema = await storage.inspect(requirements)
  const isCurrent = schema.version === schema.latest
  if (isCurrent && fix) await storage.rebuildCounts()
  const counts = isCurrent ? await storage.verifyCounts() : null
  const problems = [...problemsIn(schema), ...problemsOfCounts(counts)]
  if (output.json) output.value({ ...schema, counts, problems })
  else if (problems.length === 0 && counts !== null) {
    output.line(`No problems: schema version ${schema.version}, ${counts.users} users, every number right.`)
  }
  if (problems.length > 0) throw new Refusal(problems.join('\n'))
}
