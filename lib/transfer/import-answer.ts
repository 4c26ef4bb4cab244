import { choiceParameter, type Parameters } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { importParameters } from './import-settings.ts'
import type { ImportResult, ImportSummary } from './import.ts'

/** Which rows an answer names: those that are refused, or all. */
const REPORTS = ['faults', 'all']

/** Declares the parameters of an import over HTTP. */
export function importRouteParameters (fields: Pick<FieldsSchema, 'unique' | 'properties'>): Parameters {
  return {
    ...importParameters(fields),
    report: choiceParameter(REPORTS, 'Which lines are answered: those that are refused, or all.')
  }
}

/** The results that a report names. */
export function namedResults (results: readonly ImportResult[], report: string): ImportResult[] {
  return results.filter(({ status }) => report === 'all' || (report === 'faults' && status === 'refused'))
}

function withoutId ({ id, ...result }: ImportResult): ImportResult {
  return result
}

/**
 * Lines of JSON with the results that a report names. `mayRead`: the caller may learn ids of users that the import has
 * not made.
 */
export function resultLines (results: readonly ImportResult[], report: string, mayRead: boolean): string {
  return namedResults(results, report)
    .map((result) => mayRead || result.status === 'created' ? result : withoutId(result))
    .map((result) => `${JSON.stringify(result)}\n`).join('')
}

/** The last line of an answer. */
export function summaryLine (summary: ImportSummary): string {
  return `${JSON.stringify({ summary })}\n`
}
