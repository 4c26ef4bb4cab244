import { choiceParameter, integerParameter, type Parameters } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { importParameters } from './import-settings.ts'
import type { ImportResult, ImportSummary } from './import.ts'

/** Which rows an answer names: those that are refused, all, or none. */
export const REPORTS = ['faults', 'all', 'none']
/** How many refused rows an answer names unless somebody says otherwise: a short row has a long reason. */
export const MAX_REFUSED = 10_000

/** Declares the parameters of an import over HTTP. `maxRefused`: the option. */
export function importRouteParameters (
  fields: Pick<FieldsSchema, 'unique' | 'properties'>,
  maxRefused: number
): Parameters {
  const most = 'How many refused lines are answered; further ones are counted in the summary.'
  return {
    ...importParameters(fields),
    report: choiceParameter(REPORTS, 'Which lines are answered: those that are refused, all, or none.'),
    maxRefused: integerParameter(0, maxRefused, maxRefused, most)
  }
}

function withoutId ({ id, ...result }: ImportResult): ImportResult {
  return result
}

/**
 * Makes the function that gives the results that a report names, and of refused ones so many in all. `mayRead`: whoever
 * gets them may learn ids of users that the import has not made.
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
