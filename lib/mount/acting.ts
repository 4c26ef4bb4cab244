import { isCallerId, isCallerName } from '../api-keys/host-principal.ts'
import type { Context } from '../core/context.ts'
import { validationFailed } from '../core/errors.ts'
import { unknownOptions } from '../core/fault.ts'
import { NAME_MAX } from '../core/limits.ts'
import { requireObject } from './read-options.ts'

/** Who makes changes in process: a person of yours, or a job. */
export interface ActingAs {
  /** Your id, not empty. The parameter `actor` of the event log finds the changes by it. */
  id: string
  /** What people call them: 1 to 200 characters. Default null: only the id is known. */
  name?: string | null
  /** What they are, such as `staff` or `job`: a letter from `a` to `z`, then up to 15 letters, digits and `_`. */
  type?: string
}

/** In which request somebody makes changes. */
export interface ActingOptions {
  /** The `id` of your request, not empty. Default null. */
  requestId?: string | null
}

/** For whom methods in process are made, and who makes changes by them. */
export interface ProcessScope {
  /** Absent: for all tenants. */
  tenant?: string | undefined
  context: Context
}

const TYPE = /^[a-z][a-z0-9_]{0,15}$/
// The last two are what `apiKeys.verify()` returned besides.
const MEMBERS = ['id', 'name', 'type', 'scopes', 'tenant']

/** The context of changes that somebody makes in process. @throws UsersError `validation_failed` */
export function contextAs (actor: ActingAs, options: ActingOptions = {}): Context {
  requireObject('actor', actor)
  requireObject('options', options)
  const { id, name = null, type = 'host' }: Partial<Record<keyof ActingAs, unknown>> = { ...actor }
  const { requestId = null }: Partial<Record<keyof ActingOptions, unknown>> = { ...options }
  const faults = unknownOptions([
    ...Object.keys({ ...actor }).filter((member) => !MEMBERS.includes(member)),
    ...Object.keys({ ...options }).filter((option) => option !== 'requestId')
  ])
  const refuse = (parameter: string, detail: string): null => {
    faults.push({ parameter, code: 'format', detail: `must be ${detail}` })
    return null
  }
  const right = {
    id: isCallerId(id) ? id : refuse('id', 'a non-empty string'),
    name: isCallerName(name) ? name ?? null : refuse('name', `a string of 1 to ${NAME_MAX} characters, or null`),
    type: typeof type === 'string' && TYPE.test(type)
      ? type
      : refuse('type', '1 to 16 characters of a to z, 0 to 9 and _, beginning with a letter'),
    requestId: requestId === null || isCallerId(requestId)
      ? requestId
      : refuse('requestId', 'a non-empty string, or null')
  }
  if (right.id === null || right.type === null || faults.length > 0) throw validationFailed(faults)
  return Object.freeze({
    actor: Object.freeze({ type: right.type, id: right.id, name: right.name }), requestId: right.requestId
  })
}
