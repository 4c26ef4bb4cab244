import type { Query } from '../connection/executor.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { PROFILES, type Profile } from '../tables/profiles.ts'
import type { Names } from '../tables/names.ts'

/** What the record of the migrations says of the tables. */
export interface RecordedSchema {
  /** Version of the tables. */
  version: number
  /** The oldest version whose code works with the tables. */
  compatibleFrom: number
  /** How they use the database. */
  profile: Profile
  /** The key of what users are found by of their fields; empty: nothing. */
  searchable: string
  /** True if every user has the words of these fields. */
  hasAllWords: boolean
}

/** Reads the record of the migrations; null: there are no tables. */
export async function readRecord (query: Query, dialect: Dialect, names: Names): Promise<RecordedSchema | null> {
  const exists = async (): Promise<boolean> => {
    const { sql, params } = dialect.schema.migrationsExist(names)
    return (await query(sql, params)).length > 0
  }
  if (!await exists()) return null
  try {
    const [row] = await query(
      'SELECT version, compatible_from, profile, searchable, ' +
      `CASE WHEN words_made = word_list THEN 1 ELSE 0 END AS made FROM ${names.migrations} ` +
      'ORDER BY version DESC LIMIT 1')
    return row === undefined
      ? null
      : {
          version: Number(row['version']),
          compatibleFrom: Number(row['compatible_from']),
          profile: PROFILES.find((each) => each === row['profile']) ?? 'classic',
          searchable: String(row['searchable']),
          hasAllWords: Number(row['made']) === 1
        }
  } catch (error) {
    // Another process may have dropped the table since.
    if (!await exists()) return null
    throw error
  }
}
