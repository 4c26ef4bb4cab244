import type { Fault } from '../errors.ts'
import type { FilterKind } from '../fields/schema.ts'

/** A query string taken apart, as application/x-www-form-urlencoded, strictly. */
export interface ParsedQuery {
  /** Decoded pairs in the order they were sent. */
  pairs: Array<[name: string, value: string]>
  /** What can't be taken apart: a broken escape, a name that comes twice. */
  faults: Fault[]
}

function decode (text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** The query part of a request target. The host may have made `;` a delimiter of it. */
export function queryOf (url: string, useSemicolonDelimiter: boolean): string {
  const at = url.search(useSemicolonDelimiter ? /[?;]/ : /\?/)
  return at === -1 ? '' : url.slice(at + 1)
}

/** Takes a query string apart by our own rules: the host may have replaced Fastify's parser by one that nests, merges or coerces. */
export function parseQuery (text: string): ParsedQuery {
  const pairs: Array<[string, string]> = []
  const faults: Fault[] = []
  const seen = new Set<string>()
  for (const part of text.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const rawName = at === -1 ? part : part.slice(0, at)
    const name = decode(rawName)
    const value = at === -1 ? '' : decode(part.slice(at + 1))
    if (name === null || value === null) {
      faults.push({ parameter: name ?? rawName, code: 'encoding', detail: 'must be percent-encoded UTF-8' })
    } else if (seen.has(name)) {
      faults.push({ parameter: name, code: 'duplicate', detail: 'must not come more than once' })
    } else {
      seen.add(name)
      pairs.push([name, value])
    }
  }
  return { pairs, faults }
}

/** Decimal digits without sign, point, exponent or leading zero as a number; NaN for anything else. */
export function decimal (text: string): number {
  return /^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : NaN
}

/** The value of a parameter that is of a kind, written as JSON writes it; the text itself where it is of no other kind. */
export function typed (text: string, kind: FilterKind | undefined): string | number | boolean {
  if (kind === 'number' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return Number(text)
  return kind === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text
}
