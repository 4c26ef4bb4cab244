import { MAP_COLUMNS_MAX } from '../core/limits.ts'
import { choiceParameter, flagParameter, type Parameter, type Parameters } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { type Column, tableColumns } from './columns.ts'
import { readMap } from './file-names.ts'

export const CONFLICT_RULES = ['fail', 'skip', 'update'] as const
/** What happens to a row whose user already exists. */
export type OnConflict = (typeof CONFLICT_RULES)[number]

export const IMPORT_FORMATS = ['ndjson', 'csv'] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

/** What a caller says of an import. */
export interface ImportSettings {
  /** What to do with a row whose user already exists; `fail`, the default, refuses it. */
  onConflict?: OnConflict
  /** The member that identifies the user of a row: `email` by default, `id`, or a unique field. */
  by?: string
  /** Write nothing; results and numbers are those that a real run would have. */
  dryRun?: boolean
  /** Where members come from in a file of another system: `name:Full Name,email:E-Mail`. */
  map?: string
  /** Leave out columns and members that users do not have, instead of refusing them. */
  ignoreUnknown?: boolean
  /** Stop before the first row that is refused. */
  failFast?: boolean
}

function mapParameter (table: readonly Column[]): Parameter {
  return {
    schema: {
      type: 'string',
      description: 'The column of the table, or member of a JSON line, that a member of a user comes from, such as ' +
        '`name:Full Name,email:E-Mail`. A member that is named several times ' +
        `(at most ${MAP_COLUMNS_MAX}) is joined from all of them; one without a column is left out.`
    },
    problem (value) {
      const read = readMap(value, table)
      return Array.isArray(read) ? null : read
    }
  }
}

/**
 * Declares the settings of an import as parameters. `ofTenants`: users have a tenant. `hasGroups`: they can be in
 * groups.
 */
export function importParameters (
  fields: Pick<FieldsSchema, 'unique' | 'properties'>,
  ofTenants: boolean,
  hasGroups: boolean
): Parameters {
  return {
    onConflict: choiceParameter(CONFLICT_RULES, 'What to do with a line whose user already exists.'),
    by: choiceParameter(['email', 'id', ...fields.unique], 'The member that identifies the user of a line.'),
    dryRun: flagParameter('Write nothing; results and numbers are those of a real run.'),
    map: mapParameter(tableColumns(fields, ofTenants, hasGroups)),
    ignoreUnknown: flagParameter('Leave out columns and members that users do not have, instead of refusing them.')
  }
}
