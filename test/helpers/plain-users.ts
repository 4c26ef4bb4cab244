/** The columns of a user that have no default. */
export const USER_COLUMN_LIST = '(id, name, name_key, email, email_key, version, created_at, updated_at)'

/** The id of the nth user that is inserted past the storage. */
export function plainId (n: number): string {
  return `usr_0${String(n).padStart(25, '0')}`
}

/** A statement of PostgreSQL that inserts users past the storage, with ids from one number to another. */
export function insertUsers (table: string, from: number, to: number): string {
  return `INSERT INTO ${table} ${USER_COLUMN_LIST} ` +
    "SELECT 'usr_0' || lpad(n::text, 25, '0'), 'n', 'n', 'e', n::text, 1, now(), now() " +
    `FROM generate_series(${from}, ${to}) AS n`
}
