/**
 * Every limit on what a client sends. Checks, descriptions and the docs take them from here.
 */

/** Code points in the name of a user or an API key. */
export const NAME_MAX = 200
/**
 * UTF-16 units of a name as it is sent. Composition (Unicode NFC) makes one character of at most 6 of them, so no right
 * name is refused by this. It is judged first: composing many combining marks takes quadratic time.
 */
export const NAME_UNITS_MAX = 6 * NAME_MAX
/** Characters in an e-mail address (RFC 5321 section 4.5.3.1). */
export const EMAIL_MAX = 254
/** Characters before the `@` (RFC 5321 section 4.5.3.1.1). */
export const EMAIL_LOCAL_MAX = 64
/** Characters in an `Idempotency-Key`. */
export const IDEMPOTENCY_KEY_MAX = 255
/** The shortest search, in characters of its key; 1 of Han, Hangul or kana is enough. */
export const SEARCH_MIN = 2
/** The longest search, in characters: that of an address. Keys that are searched have at most as many. */
export const SEARCH_MAX = EMAIL_MAX
/** The longest word that users are found by, in code points: of longer ones their beginning. */
export const WORD_MAX = 64
/** How many words of the own fields a user is found by. */
export const FIELD_WORDS_MAX = 200
/** How many words a search has at most. */
export const SEARCH_WORDS_MAX = 32
/** Characters of a `Link` field with more than `next`. Proxies refuse long headers, many beyond 4 KiB in all. */
export const LINKS_MAX = 3000
/** Faults that one answer lists. */
export const FAULTS_MAX = 50
/** The highest page number. */
export const PAGE_MAX = 1_000_000_000
/** The highest value of the option `pageSize.max`. */
export const PAGE_SIZE_MAX = 10_000
/** Bytes in a request body. */
export const BODY_MAX = 16 * 1024
/** Operations in a batch. */
export const BATCH_MAX = 1000
/** Bytes in the body of a batch. */
export const BATCH_BODY_MAX = 1024 * 1024
/** Bytes of all own fields of a user, as JSON. */
export const FIELDS_MAX = 16 * 1024
/**
 * Bytes in a line of an import. Every user must come back from an export: in CSV quotation marks are doubled, which
 * makes {@link FIELDS_MAX} of empty strings 27 KiB, and each column that a user lacks has its separator.
 */
export const IMPORT_LINE_MAX = 64 * 1024
/** Columns, or members of a line of JSON, from which `map` joins one member. */
export const MAP_COLUMNS_MAX = 10
/** Characters in the JSON text of a unique field's value. */
export const UNIQUE_MAX = 255
/** Levels of nesting in own fields; the user itself is the first. */
export const FIELDS_DEPTH_MAX = 8
/** Members of one object in own fields, the user included. */
export const FIELDS_MEMBERS_MAX = 64
/** Seconds that a rotated API key may keep working: a week. */
export const OVERLAP_MAX = 7 * 24 * 60 * 60
/** Networks that an API key names in its addresses. */
export const ADDRESSES_MAX = 100
/** The most requests of an API key's own limit. */
export const KEY_RATE_MAX = 1_000_000_000
/** Days that the uses of an API key are kept, today included: a year, and the month that it is compared with. */
export const KEY_USES_DAYS = 400
/** Characters in the id that another system gives a group. */
export const EXTERNAL_ID_MAX = 255
/** Users that join and leave a group by one request. */
export const MEMBERS_MAX = 1000
/** Bytes in the body of such a request. */
export const MEMBERS_BODY_MAX = 64 * 1024
/** Characters in the URL of a webhook. */
export const WEBHOOK_URL_MAX = 2048
/** Types of events that a webhook names. */
export const WEBHOOK_TYPES_MAX = 20

/** The most users in a part of a walk. */
export const READ_PART_MAX = 1000
