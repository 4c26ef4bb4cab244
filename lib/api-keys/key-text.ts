import { createHmac, hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** What the prefix of a key can be: also a JSON Schema `pattern`. */
export const KEY_PREFIX = /^[a-z0-9]{1,12}$/
export const DEFAULT_KEY_PREFIX = 'uk'
/** How keys with any prefix begin. */
export const KEY_START = /^[a-z0-9]{1,12}_[0-9A-Za-z]{12}$/

const ID_LENGTH = 12
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
// The largest multiple of 62 in a byte. Bytes from here on are dropped, so that every character is equally likely.
const UNBIASED = 248

/** The parts of a key's text: what it is looked up by, and what proves it. */
export interface KeyParts {
  /** `<prefix>_<id>`: public. */
  start: string
  secret: string
}

function randomText (length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < UNBIASED && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length)
    }
  }
  return text
}

/** CRC-32 of the text as 6 base62 digits. It finds typing errors without a look-up; no security depends on it. */
function checksum (text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}

/** The whole text of a key. */
export function keyText ({ start, secret }: KeyParts): string {
  const body = `${start}_${secret}`
  return body + checksum(body)
}

/** Makes a new key: its parts and its whole text, `<prefix>_<id>_<secret><checksum>`. */
export function generateKey (prefix: string): KeyParts & { text: string } {
  const start = `${prefix}_${randomText(ID_LENGTH)}`
  const secret = randomText(SECRET_LENGTH)
  return { start, secret, text: keyText({ start, secret }) }
}

/**
 * Makes a reader of key texts with this prefix. It returns the parts of a well-formed text, `malformed` for one that
 * begins as a key does but has another length, character or checksum, and `null` for any other token.
 */
export function keyReader (prefix: string): (token: string) => KeyParts | 'malformed' | null {
  const base62 = '[0-9A-Za-z]'
  const start = `(${prefix}_${base62}{${ID_LENGTH}})`
  const beginning = new RegExp(`^[^0-9A-Za-z]*${start}_`)
  const form = new RegExp(`^${start}_(${base62}{${SECRET_LENGTH}})(${base62}{${CHECKSUM_LENGTH}})$`)
  return (token) => {
    const match = form.exec(token)
    if (match === null) return beginning.test(token) ? 'malformed' : null
    const [, start = '', secret = '', sum] = match
    return checksum(`${start}_${secret}`) === sum ? { start, secret } : 'malformed'
  }
}

/** True if a text is an API key with this prefix, by form and checksum. Only the store knows whether it is valid. */
export function isApiKey (text: unknown, keyPrefix = DEFAULT_KEY_PREFIX): text is string {
  if (typeof text !== 'string' || !KEY_PREFIX.test(keyPrefix)) return false
  const read = keyReader(keyPrefix)(text)
  return read !== null && read !== 'malformed'
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Tells a pepper from none, and from two of three others, so that a command can warn of a wrong one: 0 to 3. */
export function pepperMark (pepper: string | undefined): number {
  return pepper === undefined ? 0 : 1 + createHmac('sha256', pepper).digest().readUInt8() % 3
}

/** The mark of the pepper that a digest was made with. */
export function markOf (digest: string): number {
  return BASE64URL.indexOf(digest.slice(-1)) % 4
}

/**
 * What is stored of a secret: SHA-256, or HMAC-SHA-256 with the pepper, as 43 characters of base64url. 256 random bits
 * need no slow hash. They leave two bits of the last character, which are the mark of the pepper.
 */
export function digestSecret (secret: string, pepper: string | undefined): string {
  if (pepper === undefined) return hash('sha256', secret, 'base64url')
  const digest = createHmac('sha256', pepper).update(secret).digest('base64url')
  return digest.slice(0, -1) + BASE64URL.charAt(BASE64URL.indexOf(digest.slice(-1)) + pepperMark(pepper))
}
