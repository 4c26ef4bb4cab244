import type { KnexStorage } from '../adapters/knex/index.ts'
import { Refusal } from './failure.ts'
import type { Output } from './output.ts'

/** Brings the tables to the version of this code. @throws StorageError */
export async function migrate (storage: KnexStorage, output: Output): Promise<void> {
  const before = await storage.inspect()
  await storage.migrate()
  const { version } = await storage.inspect()
  if (output.json) output.value({ version, applied: before.pending })
  else output.line(before.pending.length === 0 ? `The schema is at version ${version} already.` : [...before.pending.map((name) => `applied: ${name}`), `The schema is at version ${version} now.`].join('\n'))
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
export async function check (storage: KnexStorage, output: Output, { fix }: { fix: boolean }): Promise<void> {
  const { version, latest, pending, missing } = await storage.inspect()
  const current = version === latest
  if (current && fix) await storage.rebuildCounts()
  const counts = current ? await storage.checkCounts() : null
  const problems = [
    ...(version > latest ? [`the tables are at version ${version}, this code knows ${latest}: install a newer fastify-users`] : []),
    ...(pending.length > 0 ? [`the tables are at version ${version} of ${latest}: run fastify-users migrate`] : []),
    ...missing.map((name) => `${name} is missing or not in force: make it again with the statement that migrationsSql() prints for it, then check again`),
    ...(counts !== null && (counts.wrong > 0 || counts.users !== counts.counted)
      ? [`there are ${counts.users} users, and lists count ${counts.counted} (${counts.wrong} wrong numbers): run fastify-users check --fix`]
      : [])
  ]
  if (output.json) output.value({ version, latest, pending, missing, counts, problems })
  else if (problems.length === 0 && counts !== null) output.line(`All is well: schema version ${version}, ${counts.users} users, every number right.`)
  if (problems.length > 0) throw new Refusal(problems.join('\n'))
}
