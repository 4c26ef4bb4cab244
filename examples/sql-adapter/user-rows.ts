import { StorageError, type UserKeys, type UserRecord, wordsOfUser } from 'fastify-users/storage'
import { isText, one, type Query, type Row } from './database.ts'

/** Writes what a user is found by of its fields, and refuses values that another user has. */
export async function putFields (
  q: Query,
  { id, fields }: UserRecord,
  searched: readonly Row[]
): Promise<void> {
  for (const { field, is_unique: isUnique } of searched) {
    const value = Object.hasOwn(fields, String(field)) ? fields[String(field)] : null
    if (value === undefined || typeof value === 'object') continue
    const text = JSON.stringify(value)
    const holder = isUnique === true && typeof value !== 'boolean'
      ? await one(q, 'SELECT id FROM field_values WHERE field = $1 AND value = $2 AND id <> $3', field, text, id)
      : null
    if (holder !== null) throw new StorageError('field_taken', 'another user has the value', { field: String(field) })
    await q('INSERT INTO field_values VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', field, text, id)
  }
}

/** Writes a user with all that it is found by. */
export async function putUser (q: Query, user: UserRecord, keys: UserKeys): Promise<void> {
  const { id } = user
  const { emailKey, nameKey } = keys
  const words = wordsOfUser(keys)
  if (![id, emailKey, nameKey, ...words].every(isText)) throw new StorageError('fault', 'the text can not be stored')
  const holder = await one(q, 'SELECT id FROM users WHERE email_key = $1 AND id <> $2', emailKey, id)
  if (holder !== null) throw new StorageError('email_taken', 'another user has the e-mail key')
  await q('DELETE FROM field_values WHERE id = $1', id)
  await putFields(q, user, await q('SELECT field, is_unique FROM searched'))
  await q('INSERT INTO users VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET email_key = $2, ' +
    'keys = $3, words = $4, record = $5, status = $6',
  id, emailKey, JSON.stringify(keys), words, JSON.stringify(user), user.status)
}
