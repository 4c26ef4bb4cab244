import { createHash } from 'node:crypto'

/** A text of any length and kind as a key: a digest of one that an index or the database can't have. */
export const keyOf = (text: string): string => text.length < 300 && text.isWellFormed()
  ? text
  : createHash('sha256').update(JSON.stringify(text)).digest('base64url')
