import { hash } from 'node:crypto'
import { isStorable } from '../../../lib/core/text.ts'

/** Positions of which one seek in the index of times says whether a time is among them. */
const BLOCK = 8192

/** The block of positions that an event is in. */
export const EVENT_BLOCK = `position / ${BLOCK}`

// An entry of an index has at most 2,704 bytes.
const ACTOR_MAX = 255

/**
 * What events are found by of the actor with this id, which may be any text: the id, or a digest. Empty: there was no
 * actor.
 */
export function actorKey (id: string | undefined): string {
  if (id === undefined) return ''
  const isPlain = id.length <= ACTOR_MAX && id !== '' && !id.startsWith('#') && isStorable(id)
  return isPlain ? id : `#${hash('sha256', Buffer.from(id, 'utf16le'), 'base64url')}`
}

/** A part of the log: expressions for the positions around it. */
export interface Span {
  low: string
  high: string
}

/**
 * Narrows a part of the log to where events of some times can be. `inTimes`: the condition on the times. `expressions`
 * come before the statement.
 *
 * Times are nearly in the order of positions, but a transaction may stay open for a day, and a clock be wrong by a
 * year. So blocks of positions are looked up, from both ends of the part, until one has an event of these times. That
 * leaves out none, and ten million events are 1,200 blocks.
 */
export function placesOfTimes (events: string, inTimes: string, { low, high }: Span): Span & { expressions: string } {
  const has = (block: string): string =>
    `EXISTS (SELECT 1 FROM ${events} WHERE ${EVENT_BLOCK} = ${block} AND position IS NOT NULL AND ${inTimes})`
  const walk = (name: string, from: string, next: string, isInside: string): string =>
    `${name} (block, is_found) AS (SELECT ${from}, ${has(`ends.${from}`)} FROM ends UNION ALL ` +
    `SELECT ${next}, ${has(next)} FROM ${name}, ends WHERE NOT is_found AND ${isInside})`
  const first = `a.block * ${BLOCK} - 1`
  const last = `z.block * ${BLOCK} + ${BLOCK}`
  const expressions = 'WITH RECURSIVE ' + [
    `bounds AS (SELECT ${low} AS low, ${high} AS high)`,
    `ends AS (SELECT low, high, (low + 1) / ${BLOCK} AS first, (high - 1) / ${BLOCK} AS last FROM bounds)`,
    walk('upward', 'first', 'block + 1', 'block < ends.last'),
    walk('downward', 'last', 'block - 1', 'block > ends.first'),
    `span AS (SELECT CASE WHEN ${first} > low THEN ${first} ELSE low END AS low, ` +
      `CASE WHEN ${last} < high THEN ${last} ELSE high END AS high ` +
      'FROM ends, upward AS a, downward AS z WHERE a.is_found AND z.is_found)'
  ].join(', ')
  return { expressions: `${expressions} `, low: '(SELECT low FROM span)', high: '(SELECT high FROM span)' }
}
