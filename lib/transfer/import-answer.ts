import { choiceParameter, integerParameter, type Parameters } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { importParameters } from './import-settings.ts'
import type { ImportSummary } from './import.ts'
import type { ImportResult } from './import-run.ts'

/** Which rows an answer names: those that are refused, all, or none. */
export const REPORTS = ['faults', 'all', 'none']
/** How many refused rows a response names by default. Limited, because a short row can have a long reason. */
export const MAX_REFUSED = 10_000

/**
 * Declares the parameters of an import over HTTP. `maxRefused`: the option `limits.refusedLines`. `ofTenants`: users
 * have a tenant. `hasGroups`: they can be in groups.
 */
export function importRouteParameters (
  fields: Pick<FieldsSchema, 'unique' | 'properties'>,
  maxRefused: number,
  ofTenants: boolean,
  hasGroups: boolean
): Parameters {
  const most = 'How many refused lines are listed; further ones are only counted in the summary.'
  return {
    ...importParameters(fields, ofTenants, hasGroups),
    report: choiceParameter(REPORTS, 'Which lines are listed: those that are refused, all, or none.'),
    maxRefused: integerParameter(0, maxRefused, maxRefused, most)
  }
}

function withoutId (result: ImportResult): ImportResult {
  if (result.status === 'refused') return result
  const { id, ...others } = result
  return others
}

/**
 * Returns a function that selects the results for a report, with at most `maxRefused` refused ones in total. `mayRead`:
 * whether the reader may learn the ids of users that the import did not create.
 */
export function createReporter (report: string, maxRefused: number, mayRead = true) {
  let left = maxRefused
  const names = ({ status }: ImportResult): boolean => {
    if (status !== 'refused') return report === 'all'
    return (report === 'all' || report === 'faults') && left-- > 0
  }
  return (results: readonly ImportResult[]): ImportResult[] => results.filter(names)
    .map((result) => mayRead || result.status === 'created' ? result : withoutId(result))
}

/** The last line of an answer. */
export function summaryLine (summary: ImportSummary): string {
  return `${JSON.stringify({ summary })}\n`
}
