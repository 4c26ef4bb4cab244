import { MAP_COLUMNS_MAX } from '../core/limits.ts'
import { choiceParameter, flagParameter, type Parameter, type Parameters } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { type Column, tableColumns } from './columns.ts'
import { readMap } from './file-names.ts'
import { CONFLICT_RULES, type OnConflict } from './import-judge.ts'

/** What a caller says of an import. */
export interface ImportSettings {
  /** What is done with a row whose user is there already; `fail`, by default, refuses it. */
  onConflict?: OnConflict
  /** The key by which a row's user is found: `email` by default, `id`, or a unique field. */
  by?: string
  /** Nothing is written: results and numbers are those that the run would have. */
  dryRun?: boolean
  /** Where members come from in a file of another system: `name:Full Name,email:E-Mail`. */
  map?: string
  /** Columns and members that users do not have are left out, instead of being refused. */
  ignoreUnknown?: boolean
  /** Ends before the first row that is refused. */
  failFast?: boolean
}

function mapParameter (table: readonly Column[]): Parameter {
  return {
    schema: {
      type: 'string',
      description: 'Which columns of the file, or members of its lines of JSON, members of users come from, such as ' +
        '`name:Full Name,email:E-Mail`. A member that is named several times ' +
        `(at most ${MAP_COLUMNS_MAX}) comes from all of them, one that has no column from none.`
    },
    problem (value) {
      const read = readMap(value, table)
      return Array.isArray(read) ? null : read
    }
  }
}

/** Declares the settings of an import as parameters. `ofTenants`: users have a tenant. */
export function importParameters (
  fields: Pick<FieldsSchema, 'unique' | 'properties'>,
  ofTenants: boolean
): Parameters {
  return {
    onConflict: choiceParameter(CONFLICT_RULES, 'What is done with a line whose user is there already.'),
    by: choiceParameter(['email', 'id', ...fields.unique], 'The member by which the user of a line is found.'),
    dryRun: flagParameter('Whether nothing is written: answers and numbers are those of the run.'),
    map: mapParameter(tableColumns(fields, ofTenants)),
    ignoreUnknown: flagParameter('Whether what users do not have is left out, instead of being refused.')
  }
}
