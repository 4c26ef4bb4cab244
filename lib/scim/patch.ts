import { isObject } from '../core/json.ts'
import { OPERATIONS_MAX, scimError, tooManyOperations } from './errors.ts'
import { parsePath, type Path } from './filter.ts'

/** An operation of a PATCH (RFC 7644 section 3.5.2). `path`: null, where the value has the names. */
export interface Change { op: 'add' | 'replace' | 'remove', path: Path | null, value: unknown }

/** What no path may name. Without a path, clients send it along. */
const FIXED = ['id', 'meta']

/** The member of an object by its name in any case. */
export function member (value: object, name: string): unknown {
  return Object.entries(value).find(([key]) => key.toLowerCase() === name)?.[1]
}

function changeOf (operation: unknown): Change {
  if (!isObject(operation)) throw scimError('invalidSyntax', 'An operation must be an object.')
  const op = String(member(operation, 'op')).toLowerCase()
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw scimError('invalidSyntax', 'op must be add, replace or remove.')
  }
  const path = member(operation, 'path')
  const value = member(operation, 'value')
  if (path !== undefined && path !== null && typeof path !== 'string') {
    throw scimError('invalidPath', 'path must be a text.')
  }
  if (typeof path === 'string' && path !== '') {
    const parsed = parsePath(path)
    if (FIXED.includes(parsed.name)) throw scimError('mutability', `${parsed.name} never changes.`)
    return { op, path: parsed, value }
  }
  if (op === 'remove') throw scimError('noTarget', 'An operation that removes needs a path.')
  if (!isObject(value)) throw scimError('invalidValue', 'Without a path the value must be an object.')
  return { op, path: null, value }
}

/** The operations of a PATCH, which are all checked before any is made. */
export function readChanges (body: unknown): Change[] {
  const operations = isObject(body) ? member(body, 'operations') : undefined
  if (!Array.isArray(operations)) throw scimError('invalidSyntax', 'Operations must be a list.')
  if (operations.length > OPERATIONS_MAX) throw tooManyOperations()
  return operations.map(changeOf)
}
