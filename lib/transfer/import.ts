import type { Context, ReadCall } from '../core/context.ts'
import { validationFailed } from '../core/errors.ts'
import { watchForegroundRequests } from '../core/foreground-requests.ts'
import { parameterFaults } from '../core/parameters.ts'
import { NO_FIELDS } from '../fields/fields-schema.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { ScopeOf } from '../users/outcomes.ts'
import type { Chunks } from './byte-records.ts'
import { tableColumns } from './columns.ts'
import { importOver } from './dry-run-store.ts'
import { readMap } from './file-names.ts'
import { fileRows, renamedRows } from './file-rows.ts'
import { ahead, batchesOf, groupFinder } from './import-batches.ts'
import { GROUPS } from './import-groups.ts'
import { createJudge } from './import-judge.ts'
import { batchImport, type ImportResult } from './import-run.ts'
import { type ImportFormat, importParameters, type ImportSettings } from './import-settings.ts'
import { awayIn, holdersIn, importInto, type ImportStoreParts, membersIn } from './import-store.ts'
import type { RowTenants } from './row-tenants.ts'
import { type SourceRows, valueRows } from './source-row.ts'

/** How many rows have become what. */
export interface ImportSummary {
  created: number
  updated: number
  skipped: number
  refused: number
  dryRun: boolean
  /** Over HTTP, if the server closed before all rows had come: the line of the last row that counts here. */
  stoppedAfter?: number
}

/** How rows are imported. */
export interface ResultsOptions {
  /** Throws before a batch that must not be written. */
  mayGoOn?: () => Promise<void>
  /** False for a key that is bound to a tenant: a new user gets an id. Default true. */
  choosesIds?: boolean
  /** False for a caller who must not change groups. Default true. */
  changesGroups?: boolean
}

/** An import whose settings were checked. */
export interface Import {
  /** Counts while the results are read. */
  summary: ImportSummary
  /** The line of the last row that has a result; 0: none has. */
  lastLine (): number
  /** The rows of a file, with the names that the settings give. */
  fileRows (chunks: Chunks, format: ImportFormat): SourceRows
  /** Values as rows, in the same way. */
  valueRows (values: AsyncIterable<unknown> | Iterable<unknown>): SourceRows
  /** The results of rows, in the order of their lines. */
  results (
    rows: SourceRows,
    context: Context,
    options?: ResultsOptions
  ): AsyncGenerator<ImportResult[], void, undefined>
}

export interface ImportParts extends ImportStoreParts {
  fields: HostFields | null
  /** Which tenants rows name, where the caller is bound to none. */
  tenants: Exclude<RowTenants, object>
  /** True if deleted users may be kept, whose ids nobody else can have. */
  hasTrash: boolean
  /** True if users can be in groups. */
  hasGroups: boolean
  scopeOf: ScopeOf
}

/** Makes the function that opens an import. It throws UsersError alone, `validation_failed` for its settings. */
export function createImports (parts: ImportParts) {
  const { fields, repository, tenants: named, hasTrash, scopeOf } = parts
  const schema = fields?.schema ?? NO_FIELDS
  // On the command line, which does not know the option groups, a field of the host's may have the name.
  const hasGroups = parts.hasGroups && fields?.has(GROUPS) !== true
  const declared = importParameters(schema, named !== 'none', hasGroups)
  const table = tableColumns(schema, named !== 'none', hasGroups)
  const findGroups = groupFinder(repository)

  return (settings: ImportSettings, { priorFaults = [], tenant }: ReadCall = {}): Import => {
    const tenants: RowTenants = tenant === undefined || named === 'none' ? named : { only: tenant }
    const findAway = awayIn(repository, tenant, hasTrash)
    const { failFast = false, ...given } = settings
    const faults = [...priorFaults, ...parameterFaults(declared, given)]
    if (typeof failFast !== 'boolean') {
      faults.push({ parameter: 'failFast', code: 'choice', detail: 'must be true or false' })
    }
    if (faults.length > 0) throw validationFailed(faults)
    const { onConflict = 'fail', by = 'email', dryRun = false, map, ignoreUnknown = false } = given
    const read = readMap(map, table)
    const names = { entries: Array.isArray(read) ? read : [], ignoreUnknown }
    let lastLine = 0
    const summary: ImportSummary = { created: 0, updated: 0, skipped: 0, refused: 0, dryRun }

    return {
      summary,
      lastLine: () => lastLine,
      fileRows: (chunks, format) => fileRows(chunks, format, table, names),
      valueRows: (values) => renamedRows(valueRows(values), table, names),
      async * results (rows, context, { mayGoOn = async () => {}, choosesIds = true, changesGroups = true } = {}) {
        const stored = { find: holdersIn(repository, tenant), isIn: membersIn(repository) }
        const store = dryRun
          ? await importOver(stored, schema.unique)
          : importInto(parts, stored, scopeOf({ tenant, context }), schema.unique, context)
        const groups = !hasGroups ? 'unknown' : changesGroups ? 'allowed' : 'forbidden'
        const requests = watchForegroundRequests()
        try {
          const judge = createJudge({ onConflict, by, choosesIds }, fields, { ...store, findAway })
          const { isJoined } = repository
          const run = { judge, store, findAway, onConflict, failFast, choosesIds, isJoined }
          const importBatch = batchImport(run, !dryRun && !failFast)
          for await (const batch of ahead(batchesOf(rows, { fields, tenants, groups }, requests))) {
            await requests.yieldToRequests()
            await mayGoOn()
            const { results, unlisted, goesOn } = await importBatch(await findGroups(batch))
            for (const { status } of results) summary[status]++
            summary.refused += unlisted
            lastLine = batch.at(-1)?.line ?? lastLine
            if (results.length > 0) yield results
            if (!goesOn) return
          }
        } finally {
          requests.close()
          await store.close()
        }
      }
    }
  }
}

/** Opens an import, after its code is loaded. */
export type OpenImport = (...call: Parameters<ReturnType<typeof createImports>>) => Promise<Import>
