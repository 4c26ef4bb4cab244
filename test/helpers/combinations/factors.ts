// The respects in which hosts differ, and what can't be combined.
import type { Excluded, Levels, Row } from './covering.ts'
import { requestBodies, responseBodies } from './hooks.ts'
import type { Level } from './level.ts'
import { plugins } from './plugins.ts'
import { settings } from './settings.ts'

export const factors: Readonly<Record<string, Readonly<Record<string, Level>>>> = {
  ...settings,
  order: { 'after ours': {}, 'before ours': {} },
  requestBodies,
  responseBodies,
  ...plugins
}

export const levels: Levels = Object.fromEntries(Object.entries(factors).map(([name, of]) => [name, Object.keys(of)]))

export const excluded: readonly Excluded[] = [
  ['middlewares', 'express', 'http2', 'on', 'Express gives requests a prototype of HTTP/1']
]

/** A host with no setting but those of Fastify. */
export const PLAIN: Row = {
  ...Object.fromEntries(Object.entries(levels).map(([name, [first = '']]) => [name, first])),
  logger: 'none',
  bodyLimit: 'the default'
}

export const levelsOf = (row: Row): Level[] =>
  Object.entries(row).map(([name, level]) => Object(Object(factors[name])[level]))

/** What distinguishes a host from a plain one. */
export const nameOf = (row: Row): string => Object.entries(row).filter(([name, level]) => PLAIN[name] !== level)
  .map(([name, level]) => level === 'on' ? name : `${name} ${level}`).join(', ')
