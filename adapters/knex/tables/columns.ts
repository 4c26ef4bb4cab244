/** A column, and the member of a record that it is read as. */
export interface Column {
  name: string
  column: string
  kind: 'plain' | 'moment' | 'json'
}

const plain = (name: string, column = name): Column => ({ name, column, kind: 'plain' })
const moment = (name: string, column: string): Column => ({ name, column, kind: 'moment' })

/** What an event shows of a user. */
export const SHOWN_COLUMNS: readonly Column[] = [
  plain('id'),
  plain('name'),
  plain('email'),
  plain('status'),
  // Empty: null.
  plain('statusReason', 'status_reason'),
  plain('version'),
  moment('createdAt', 'created_at'),
  moment('updatedAt', 'updated_at'),
  { name: 'fields', column: 'fields', kind: 'json' }
]

/** The tenant that a record belongs to; empty: none. */
const TENANT = plain('tenant')

/** What is read of a user. */
export const USER_COLUMNS: readonly Column[] = [...SHOWN_COLUMNS, TENANT]

/** The columns of the words that a user is found by, each with blanks between words. */
export const WORD_COLUMNS = ['name_words', 'email_words', 'field_words'] as const

/** The column of the mark of the list of fields that the words of the fields are of. */
export const WORD_LIST = 'word_list'

/** All of them, in SQL. */
export const USER_WORDS = WORD_COLUMNS.join(" || ' ' || ")

/** The keys and words of a user, which are kept with a user that is put away. */
export const KEY_COLUMNS: readonly Column[] = [
  plain('nameKey', 'name_key'),
  plain('emailKey', 'email_key'),
  plain('nameWords', 'name_words'),
  plain('emailWords', 'email_words'),
  plain('fieldWords', 'field_words')
]

/** What is read of a recorded event. */
export const EVENT_COLUMNS: readonly Column[] = [
  ...['id', 'type', 'subject'].map((name) => plain(name)),
  moment('timestamp', 'happened_at'),
  ...['context', 'data', 'before'].map((name) => ({ name, column: name, kind: 'json' }) as const),
  TENANT
]

/** What is read of pruned events. */
export const PRUNED_COLUMNS: readonly Column[] = [plain('type'), plain('id'), plain('greatestId', 'greatest_id')]

/** What is read of an API key. */
export const API_KEY_COLUMNS: readonly Column[] = [
  ...['id', 'name', 'scopes', 'start', 'digest', 'lifetime', 'owner', 'addresses'].map((name) => plain(name)),
  plain('rateLimitMax', 'rate_limit_max'),
  plain('rateLimitWindow', 'rate_limit_window'),
  plain('rotatedFrom', 'rotated_from'),
  moment('createdAt', 'created_at'),
  moment('expiresAt', 'expires_at'),
  moment('revokedAt', 'revoked_at'),
  moment('lastUsedAt', 'last_used_at'),
  moment('rotatedAt', 'rotated_at'),
  TENANT
]
