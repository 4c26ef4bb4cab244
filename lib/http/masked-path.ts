import { DELIVERY_ID, isApiKeyId, isUserId, WEBHOOK_ID } from '../core/ids.ts'

/** Parts of a path as they were sent, and what the log shows in their place. */
export type MaskedParts = ReadonlyMap<string, string>

/** No part of a path is masked. */
export const NOTHING_MASKED: MaskedParts = new Map()

// What stands between the parts of a path, and around a path in a longer text.
const BETWEEN = /([\s/?#;"'<>,]+)/
// The words of our own paths.
const WORDS: readonly string[] = ['', 'users', 'api-keys', 'current', 'rotate']

// The parameters of our own paths.
const PARAMETERS = ['id', 'delivery']

const isShown = (part: string): boolean => WORDS.includes(part) || isUserId(part) || isApiKeyId(part) ||
  WEBHOOK_ID.test(part) || DELIVERY_ID.test(part)

function decoded (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A text and the parts that it has, escaped and not. */
function partsOf (text: string): string[] {
  return [text, ...text.split(BETWEEN)].flatMap((part) => [part, decoded(part), ...decoded(part).split(BETWEEN)])
}

function masked (parts: readonly string[], label: string, known: readonly unknown[]): MaskedParts {
  const hidden = parts.filter((part) => !isShown(part) && !known.includes(part) && part.replace(BETWEEN, '') !== '')
  return new Map(hidden.map((part) => [part, label]))
}

/**
 * What a client has written into the path of one of our routes where an id is due: an address, or the text of a key.
 * Under an unknown path this is all that follows the prefix. Well-formed ids are shown.
 */
export function maskedParts (request: unknown): MaskedParts {
  const { params, is404, url, server, id: requestId, method, ip, host, hostname, socket } = Object(request)
  // Logged beside the path. Whoever writes its own address into a path must not hide that from the log.
  const known = [requestId, method, ip, host, hostname, Object(socket).remoteAddress]
  if (is404 === true) {
    const depth = String(Object(server).prefix ?? '').split('/').length
    const path = String(url).replace(/\?.*/s, '')
    return masked(partsOf(path.split('/').slice(depth).join('/')), '*', known)
  }
  const all = PARAMETERS.flatMap((name) => {
    const value: unknown = Object(params)[name]
    if (typeof value !== 'string' || isShown(value)) return []
    const sent = String(url).split(/[/?]/).filter((part) => decoded(part) === value)
    return [...masked([value, ...sent.flatMap(partsOf), ...partsOf(value)], `:${name}`, known)]
  })
  return all.length === 0 ? NOTHING_MASKED : new Map(all)
}

/** A text with what the log shows of a path. A text without a slash is one part, or no path. */
export function withoutMasked (text: string, parts: MaskedParts): string {
  if (parts.size === 0) return text
  const whole = parts.get(text)
  if (whole !== undefined) return whole
  return text.includes('/') ? text.split(BETWEEN).map((part) => parts.get(part) ?? part).join('') : text
}
