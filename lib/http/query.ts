import type { Fault } from '../core/fault.ts'

/** A query string, parsed strictly as application/x-www-form-urlencoded. */
export interface ParsedQuery {
  /** Decoded pairs in the order they were sent. */
  pairs: Array<[name: string, value: string]>
  /** A broken escape, or a name that is repeated. */
  faults: Fault[]
}

function decode (text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** The query part of a request target. The host may have made `;` its delimiter. */
export function queryOf (url: string, useSemicolonDelimiter: boolean): string {
  const at = url.search(useSemicolonDelimiter ? /[?;]/ : /\?/)
  return at === -1 ? '' : url.slice(at + 1)
}

/** Parses a query string. The host may have replaced Fastify's parser by one that nests, merges or coerces. */
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
      faults.push({ parameter: name, code: 'duplicate', detail: 'must not be given more than once' })
    } else {
      seen.add(name)
      pairs.push([name, value])
    }
  }
  return { pairs, faults }
}
