import { IN_PROCESS } from '../lib/core/context.ts'
import { UsersError } from '../lib/core/errors.ts'
import type { Fault } from '../lib/core/fault.ts'
import { newEvent } from '../lib/storage/recorded-events.ts'
import { isStorageError } from '../lib/storage/storage-error.ts'
import { repositoryOf } from '../lib/storage/repository.ts'
import type { Storage } from '../lib/storage/storage.ts'
import type { HostFields } from '../lib/fields/host-fields.ts'
import { createReporter, MAX_REFUSED, summaryLine } from '../lib/transfer/import-answer.ts'
import type { ImportSettings, OnConflict } from '../lib/transfer/import-settings.ts'
import { createImports, type Import, type ImportParts, type ImportSummary } from '../lib/transfer/import.ts'
import type { ImportResult } from '../lib/transfer/import-run.ts'
import type { SourceRows } from '../lib/transfer/source-row.ts'
import { scopes } from '../lib/users/outcomes.ts'
import { callOf } from './common.ts'
import { Refusal, UsageError } from './failure.ts'
import { fieldsIn } from './fields.ts'
import { untilInterrupted } from './interruption.ts'
import { isLogged } from './keys.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'
import { createProgress } from './progress.ts'
import { reasonsOf } from './refusals.ts'
import { requirementsOf } from './schema.ts'
import { hasTenants } from './tenants.ts'

/** The options of every command that takes users in. */
export interface ImportingOptions {
  onConflict?: OnConflict
  by?: string
  dryRun?: boolean
  failFast?: boolean
  /** Which columns of a file members come from: `name=Full Name`. */
  map?: string
  /** Leaves out what users do not have. */
  ignoreUnknown?: boolean
  /** Which rows to report: `faults` (the refused ones, the default) or `all`. Any other value reports none. */
  report?: string
  /** How many refused rows are named. */
  maxRefused?: string
  /** A file with the JSON Schema of the host's fields: the option `fields` of the server. */
  fields?: string
  /** The option `unique` of the server. */
  unique?: string
  /** Whose users they are. */
  tenant?: string
}

/** What is imported, and how far it is. */
export interface Importing {
  fields: HostFields | null
  /** What a row is called, such as `line 7`. */
  called: (line: number) => string
  /** Its rows. What they are called in a file, the settings of the import say. */
  rows: (opened: Import) => SourceRows
  /** Whether each row must say whose user it is, also where no user has a tenant yet. */
  namesTenants?: boolean
  /** How much of it was read, from 0 to 1; null: nobody knows. */
  part: () => number | null
  /** How to go on behind what was imported. */
  goesOn: string
  /** Members of a result in JSON, beside its own. */
  more?: (line: number) => object
  /** Called with the results of rows that belong together, after they were named. */
  onResults?: (results: readonly ImportResult[]) => void
}

/** The host's fields as the options say. @throws UsageError, TypeError, Refusal if an index is missing */
export async function fieldsOfOptions (
  storage: Storage,
  { fields, unique: list }: Pick<ImportingOptions, 'fields' | 'unique'>
): Promise<HostFields | null> {
  const { unique } = requirementsOf(list === undefined ? {} : { unique: list })
  if (unique.length > 0 && fields === undefined) throw new UsageError('--unique needs --fields <file>')
  // Check the tables first, because they have an error message of their own.
  await storage.open()
  await storage.open({ unique }).catch((error) => {
    if (!isStorageError(error) || error.code !== 'schema_behind') throw error
    throw new Refusal(`no index keeps ${unique.join(', ')} unique: run fastify-users migrate --unique ${unique.join()}`)
  })
  return fields === undefined ? null : fieldsIn(fields, unique)
}

function resultText (called: string, result: ImportResult): string {
  const why = result.status === 'refused'
    ? reasonsOf(result).join(', ')
    : result.id
  return `${printable(`${called}: ${result.status}${why === undefined ? '' : `: ${why}`}`)}\n`
}

function countsText ({ created, updated, skipped, refused, dryRun }: ImportSummary): string {
  const counts = Object.entries({ created, updated, skipped, refused }).map(([status, count]) => `${status} ${count}`)
  return `${dryRun ? 'dry run: ' : ''}${counts.join(', ')}`
}

/** The settings among the options of a command, which has others. */
function settingsOf (options: ImportingOptions): ImportSettings {
  const { onConflict, by, dryRun, failFast, map, ignoreUnknown } = options
  return {
    ...(onConflict !== undefined && { onConflict }),
    ...(by !== undefined && { by }),
    ...(dryRun !== undefined && { dryRun }),
    ...(failFast !== undefined && { failFast }),
    ...(map !== undefined && { map }),
    ...(ignoreUnknown !== undefined && { ignoreUnknown })
  }
}

/** A field of the host's may have the name too. Among tenants, a row that names none would be nobody's. */
async function rowTenantsOf (
  storage: Storage,
  fields: HostFields | null,
  namesTenants: boolean
): Promise<ImportParts['tenants']> {
  if (fields?.has('tenant') === true) return 'none'
  return namesTenants || await hasTenants(storage) ? 'required' : 'optional'
}

const LACKS_SCHEMA = 'the users have unknown members: pass the schema of the host’s fields with --fields <file>'

const hasUnknown = ({ errors }: { errors?: readonly Fault[] | undefined }): boolean =>
  errors?.some(({ code }) => code === 'unknown') === true

/**
 * Takes users in, and says what has become of them. If the process is asked to end, it ends behind what was read.
 * @throws Refusal if any was refused or left out, UsersError
 */
export async function importUsers (
  storage: Storage,
  output: Output,
  options: ImportingOptions,
  importing: Importing
): Promise<void> {
  const { fields, called, rows: rowsOf, namesTenants = false, part, goesOn } = importing
  const { more = () => ({}), onResults = () => {} } = importing
  const makeEvent = await isLogged(storage) ? newEvent : () => null
  const { report = 'faults', maxRefused = String(MAX_REFUSED) } = options
  if (!/^\d+$/.test(maxRefused)) throw new UsageError('--max-refused takes a whole number')
  const named = createReporter(report, Number(maxRefused))
  const scopeOf = scopes(fields?.searchable?.wordsOf, null)
  const repository = repositoryOf(storage)
  const parts = { repository, fields, publish () {}, makeEvent, scopeOf, hasTrash: true, hasGroups: true }
  const tenants = await rowTenantsOf(storage, fields, namesTenants)
  const opened = createImports({ ...parts, tenants })(settingsOf(options), callOf(options))
  const { summary, results } = opened
  const progress = createProgress(process.stderr)
  const { rows, isCut, close } = untilInterrupted(rowsOf(opened))
  const goOn = options.dryRun === true ? 'Nothing was written: run it again.' : goesOn
  let done = 0
  let last = ''
  let lacksSchema = false
  try {
    for await (const some of results(rows, IN_PROCESS)) {
      lacksSchema ||= fields === null &&
        some.some((result) => result.status === 'refused' && hasUnknown(result.problem))
      const text = named(some).map((result) => output.json
        ? `${JSON.stringify({ ...result, ...more(result.line) })}\n`
        : resultText(called(result.line), result)).join('')
      if (text !== '') {
        progress.clear()
        await output.text(text)
      }
      last = called(some.at(-1)?.line ?? 0)
      onResults(some)
      done += some.length
      progress.show(done, part())
    }
  } catch (error) {
    if (fields === null && error instanceof UsersError && hasUnknown(error)) output.note(LACKS_SCHEMA)
    if (done > 0) output.note(printable(`Stopped after ${last}: ${countsText(summary)}. ${goOn}`))
    throw error
  } finally {
    close()
    progress.clear()
  }
  await output.text(output.json ? summaryLine(summary) : `${countsText(summary)}\n`)
  if (lacksSchema) output.note(LACKS_SCHEMA)
  if (isCut()) {
    throw new Refusal(done === 0
      ? 'interrupted: nothing was imported'
      : printable(`interrupted after ${last}: the rest was not imported. ${goOn}`))
  }
  const { refused } = summary
  if (refused > 0) throw new Refusal(refused === 1 ? '1 user was refused' : `${refused} users were refused`)
}
