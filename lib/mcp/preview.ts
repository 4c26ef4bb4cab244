import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '../core/json.ts'

// A preview says what somebody has seen, for those who saw it: nobody is let in by it.

/** The versions that were seen, by id. */
export type Seen = Readonly<Record<string, number>>

const LIFETIME_MS = 10 * 60_000

const sign = (text: string, secret: string): string => createHmac('sha256', secret).update(text).digest('base64url')
/** Stands for a call. */
export const digestOf = (tool: string, given: object): string =>
  createHash('sha256').update(canonicalJson([tool, given])).digest('base64url')

/**
 * Makes the text of a preview. `secret`: what only the caller's program and the server know, its key: a model can not
 * make a preview up, and another process of the server can read it.
 */
export function makePreview (tool: string, given: object, seen: Seen, secret: string): string {
  const content = JSON.stringify({ call: digestOf(tool, given), seen, until: Date.now() + LIFETIME_MS })
  const text = Buffer.from(content).toString('base64url')
  return `${text}.${sign(text, secret)}`
}

/** What was seen, for the same call; null: the preview is of another one, is too old, or was not made here. */
export function readPreview (preview: string, tool: string, given: object, secret: string): Seen | null {
  const [text = '', signature = ''] = preview.split('.')
  const [expected, actual] = [sign(text, secret), signature].map((each) => Buffer.from(each))
  if (expected === undefined || actual === undefined || expected.length !== actual.length) return null
  if (!timingSafeEqual(expected, actual)) return null
  const { call, seen, until } = JSON.parse(Buffer.from(text, 'base64url').toString())
  return call === digestOf(tool, given) && Date.now() < until ? seen : null
}
