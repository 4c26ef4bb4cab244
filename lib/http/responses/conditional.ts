import type { FastifyReply, FastifyRequest } from 'fastify'
import { UsersError } from '../../core/errors.ts'
import type { Fault } from '../../core/fault.ts'
import type { WriteOptions } from '../../users/write-options.ts'
import { header } from '../header-fields.ts'

// RFC 9110 section 8.8.3; a list may have empty elements (section 5.6.1).
const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/y
const SEPARATOR = /[ \t]*(?:,[ \t]*)+/y
const VERSION = /^[1-9]\d{0,14}$/

interface EntityTag {
  weak: boolean
  opaque: string
}

/** The strong entity tag of a user's version. */
export function entityTag (version: number): string {
  return `"${version}"`
}

function parseEntityTags (text: string): '*' | EntityTag[] | null {
  const value = text.trim()
  if (value === '*') return '*'
  const tags: EntityTag[] = []
  let at = 0
  const read = (pattern: RegExp): string | null => {
    const start = at
    pattern.lastIndex = start
    if (!pattern.test(value)) return null
    at = pattern.lastIndex
    return value.slice(start, at)
  }
  read(SEPARATOR)
  while (at < value.length) {
    const tag = read(ENTITY_TAG)
    if (tag === null) return null
    tags.push({ weak: tag.startsWith('W'), opaque: tag.slice(tag.indexOf('"') + 1, -1) })
    if (at < value.length && read(SEPARATOR) === null) return null
  }
  return tags.length === 0 ? null : tags
}

type Versions = '*' | number[]

/** The versions that a list of entity tags names; null: it is malformed. */
export function parseVersions (text: string, acceptsWeak: boolean): Versions | null {
  const tags = parseEntityTags(text)
  if (tags === null || tags === '*') return tags
  // A tag that is not of ours matches nothing, and in the strong comparison a weak one does not either.
  return tags.filter((tag) => (acceptsWeak || !tag.weak) && VERSION.test(tag.opaque)).map((tag) => Number(tag.opaque))
}

function versionsIn (
  request: FastifyRequest,
  name: 'if-match' | 'if-none-match',
  acceptsWeak: boolean,
  faults: Fault[]
): Versions | undefined {
  const text = header(request, name)
  if (text === undefined) return undefined
  const versions = parseVersions(text, acceptsWeak)
  if (versions !== null) return versions
  faults.push({ header: name, code: 'format', detail: 'must be * or a list of entity tags' })
  return undefined
}

/**
 * The preconditions of a request: If-Match by strong comparison, If-None-Match by weak comparison (RFC 9110 sections
 * 13.1.1 and 13.1.2). A malformed header is added to `faults`.
 */
export function preconditions (request: FastifyRequest, faults: Fault[]): WriteOptions {
  const ifMatch = versionsIn(request, 'if-match', false, faults)
  const ifNoneMatch = versionsIn(request, 'if-none-match', true, faults)
  return { ...(ifMatch !== undefined && { ifMatch }), ...(ifNoneMatch !== undefined && { ifNoneMatch }) }
}

/** The newest version that preconditions name: whoever names it has seen it. */
export function newestNamed ({ ifMatch, ifNoneMatch }: WriteOptions): number {
  return Math.max(1, ...[ifMatch, ifNoneMatch].flat().filter((each) => typeof each === 'number'))
}

function includesVersion (versions: WriteOptions['ifMatch'], version: number): boolean {
  return versions === '*' || versions === version || (Array.isArray(versions) && versions.includes(version))
}

/**
 * Evaluates the preconditions of a read, in the order of RFC 9110 section 13.2.2, and sets the ETag. True: the client
 * has this version, so the answer is 304.
 * @throws UsersError `precondition_failed`
 */
export function isNotModified (conditions: WriteOptions, version: number, reply: FastifyReply): boolean {
  const { ifMatch, ifNoneMatch } = conditions
  if (ifMatch !== undefined && !includesVersion(ifMatch, version)) throw new UsersError('precondition_failed')
  reply.header('etag', entityTag(version))
  return includesVersion(ifNoneMatch, version)
}
