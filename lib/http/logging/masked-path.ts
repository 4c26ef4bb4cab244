import { DELIVERY_ID, isApiKeyId, isUserId, WEBHOOK_ID } from '../../core/ids.ts'
import { memberOf } from '../member-of.ts'

/** What the log must not show of a path. */
export interface MaskedPath {
  /** Parts as they were sent, and what is shown in their place. */
  labels: ReadonlyMap<string, string>
  /** Beginnings of a path after which nothing is shown. */
  heads: readonly string[]
  /** The masked ends of such paths, for texts that contain one without its prefix. */
  rests: readonly string[]
}

/** No part of a path is masked. */
export const NOTHING_MASKED: MaskedPath = { labels: new Map(), heads: [], rests: [] }

// Characters of an unknown path that are masked part by part, each of which takes 5 µs. Anybody may send 16 KiB.
const IN_PARTS = 128
// What ends a path in a longer text.
const AFTER_PATH = /[\s"'<>]/

// What stands between the parts of a path, and around a path in a longer text.
const BETWEEN = /([\s/?#;"'<>,]+)/
// The words of our own paths that an unknown path may show.
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

function masked (parts: readonly string[], label: string, known: readonly unknown[]): Array<[string, string]> {
  const hidden = parts.filter((part) => !isShown(part) && !known.includes(part) && part.replace(BETWEEN, '') !== '')
  return hidden.map((part) => [part, label])
}

/** Of an unknown path, what follows the prefix, which has `depth` parts. */
function unknownPath (path: string, depth: number, known: readonly unknown[]): MaskedPath {
  const rest = path.split('/').slice(depth).join('/')
  // A host's router may let the query begin with a semicolon.
  const rests = [rest, decoded(rest), rest.replace(/;.*/s, '')]
  const labels = new Map(masked(rests.flatMap((each) => partsOf(each.slice(0, IN_PARTS))), '*', known))
  if (rest.length <= IN_PARTS) return { labels, heads: [], rests: [] }
  const head = path.slice(0, path.length - rest.length)
  return { labels, heads: [head, decoded(head)], rests: rests.filter((each) => each.length > IN_PARTS) }
}

/**
 * What a client has written into the path of one of our routes where an id is due: an address, or the text of a key.
 * Under an unknown path this is all that follows the prefix. Well-formed ids are shown.
 */
export function maskedPath (request: unknown): MaskedPath {
  const { params, is404, url, server } = Object(request)
  // Logged beside the path. Whoever writes its own address into a path must not hide that from the log.
  const shown = ['id', 'method', 'ip', 'host', 'hostname'].map((name) => memberOf(request, name))
  const known = [...shown, memberOf(memberOf(request, 'socket'), 'remoteAddress')]
  const path = String(url).replace(/\?.*/s, '')
  if (is404 === true) return unknownPath(path, String(Object(server).prefix ?? '').split('/').length, known)
  const all = PARAMETERS.flatMap((name) => {
    const value: unknown = Object(params)[name]
    if (typeof value !== 'string' || isShown(value)) return []
    const sent = path.split('/').filter((part) => decoded(part) === value)
    return masked([value, ...sent.flatMap(partsOf), ...partsOf(value)], `:${name}`, known)
  })
  return all.length === 0 ? NOTHING_MASKED : { labels: new Map(all), heads: [], rests: [] }
}

/** A text without what follows a beginning of a path in it. */
function withoutRest (text: string, head: string): string {
  const [before = '', ...paths] = text.split(head)
  const shown = paths.map((path) => {
    const end = path.search(AFTER_PATH)
    return `*${end === -1 ? '' : path.slice(end)}`
  })
  return [before, ...shown].join(head)
}

/** A text with what the log shows of a path. A text without a slash is one part, or no path. */
export function withoutMasked (text: string, { labels, heads, rests }: MaskedPath): string {
  if (labels.size === 0 && rests.length === 0) return text
  const whole = labels.get(text)
  if (whole !== undefined) return whole
  const short = rests.reduce((shown, rest) => shown.replaceAll(rest, '*'), heads.reduce(withoutRest, text))
  return short.includes('/') ? short.split(BETWEEN).map((part) => labels.get(part) ?? part).join('') : short
}
