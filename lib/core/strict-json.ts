import { isUtf8 } from 'node:buffer'
import secureJson from 'secure-json-parse'
import { UsersError, validationFailed } from './errors.ts'

/**
 * Parses the bytes of a JSON text in UTF-8 by the rules of {@link parseJsonText}. No bytes are `undefined`.
 * @throws UsersError as it does
 */
export function parseJsonBytes (bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new UsersError('malformed_json')
  return parseJsonText(bytes.toString('utf8'))
}

/**
 * Parses a JSON text, whatever the host configured: no prototype poisoning, no member twice (RFC 7493 section 2.3).
 * `pointer`: where in the body it is.
 * @throws UsersError `malformed_json`, or `validation_failed` for a member that is twice or would poison a prototype
 */
export function parseJsonText (text: string, pointer = ''): unknown {
  const value = parseJson(text, pointer)
  if (memberCount(value) === writtenMembers(text)) return value
  throw validationFailed([{ pointer, code: 'duplicate', detail: 'must not have a member twice' }])
}

function parseJson (text: string, pointer: string): unknown {
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    if (!isJson(text)) throw new UsersError('malformed_json')
    const detail = 'must not have members named __proto__ or constructor.prototype'
    throw validationFailed([{ pointer, code: 'forbidden', detail }])
  }
}

/** How many members a JSON text has: outside of strings, a colon stands before the value of each. */
function writtenMembers (text: string): number {
  let count = 0
  let isString = false
  // On a small body 0.3 µs, where cutting out the strings by a pattern takes 2.5 µs.
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === '"') isString = !isString
    else if (isString && character === '\\') i++
    else if (!isString && character === ':') count++
  }
  return count
}

/** How many members a parsed value has. Of a name that is written twice the last one stays. */
function memberCount (value: unknown): number {
  let count = 0
  // No recursion: thousands of levels fit into a body.
  const left: unknown[] = [value]
  while (left.length > 0) {
    const each = left.pop()
    if (typeof each !== 'object' || each === null) continue
    const values = Object.values(each)
    if (!Array.isArray(each)) count += values.length
    for (const inner of values) left.push(inner)
  }
  return count
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
