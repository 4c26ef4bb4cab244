import type { KnexStorage } from '../adapters/knex/index.ts'
import { isFilterable } from '../lib/storage-rules.ts'
import type { Needs } from '../lib/storage.ts'
import { Refusal, UsageError } from './failure.ts'
import type { Output } from './output.ts'

/** The fields that an option names, with commas between them. @throws UsageError */
export function filterableOf (list: string | undefined): Required<Needs> {
  const filterable = list === undefined ? [] : list.split(',').map((name) => name.trim())
  if (!filterable.every(isFilterable)) throw new UsageError('--filterable takes names of fields with commas between them, each of 1 to 63 letters, digits and _')
  return { filterable }
}

/** Brings the tables to the version of this code, with the indexes of these fields. @throws StorageError */
export async function migrate (storage: KnexStorage, output: Output, needs: Required<Needs>): Promise<void> {
  const before = await storage.inspect(needs)
  await storage.migrate(needs)
  const { version } = await storage.inspect()
  const applied = [...before.pending, ...before.unindexed.map((field) => `index of ${field}`)]
  if (output.json) output.value({ version, applied })
  else output.line(applied.length === 0 ? `The schema is at version ${version} already.` : [...applied.map((name) => `applied: ${name}`), `The schema is at version ${version} now.`].join('\n'))
}

/** Says which migrations are still to be applied; refused where there are any. @throws Refusal, StorageError */
export async function migrationStatus (storage: KnexStorage, output: Output): Promise<void> {
  const { version, latest, pending } = await storage.inspect()
  if (output.json) output.value({ version, latest, pending })
  else output.line(`version ${version} of ${latest}${pending.map((name) => `\npending: ${name}`).join('')}`)
  if (version > latest) throw new Refusal('The tables are newer than this code: install a newer fastify-users.')
  if (pending.length > 0) throw new Refusal('Apply them: fastify-users migrate')
}

/**
 * Looks for what keeps the storage from working well, and says what to do: a schema behind, a missing index or trigger, wrong counts. `fix` counts anew.
 * @throws Refusal, StorageError
 */
export async function check (storage: KnexStorage, output: Output, { fix }: { fix: boolean }, needs: Required<Needs>): Promise<void> {
  const { version, latest, pending, missing, unindexed } = await storage.inspect(needs)
  const current = version === latest
  if (current && fix) await storage.rebuildCounts()
  const counts = current ? await storage.checkCounts() : null
  const problems = [
    ...(version > latest ? [`the tables are at version ${version}, this code knows ${latest}: install a newer fastify-users`] : []),
    ...(pending.length > 0 ? [`the tables are at version ${version} of ${latest}: run fastify-users migrate`] : []),
    ...missing.map((name) => `${name} is missing or not in force: make it again with the statement that migrationsSql() prints for it, then check again`),
    ...(unindexed.length > 0 ? [`lists filtered by ${unindexed.join(', ')} have no index: run fastify-users migrate --filterable ${unindexed.join(',')}`] : []),
    ...(counts !== null && (counts.wrong > 0 || counts.users !== counts.counted)
      ? [`there are ${counts.users} users, and lists count ${counts.counted} (${counts.wrong} wrong numbers): run fastify-users check --fix`]
      : [])
  ]
  if (output.json) output.value({ version, latest, pending, missing, unindexed, counts, problems })
  else if (problems.length === 0 && counts !== null) output.line(`All is well: schema version ${version}, ${counts.users} users, every number right.`)
  if (problems.length > 0) throw new Refusal(problems.join('\n'))
}
