import type { Scope } from '../api-keys/scopes.ts'
import { API_KEY_ID, EVENT_ID, GROUP_ID, USER_ID, WEBHOOK_ID } from '../core/ids.ts'
import { NAME_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import { TENANT } from '../core/tenant.ts'

// What components are made of.

export const moment = (description: string): Schema => ({ type: 'string', format: 'date-time', description })

export const userId: Schema = {
  type: 'string',
  pattern: USER_ID.source,
  description: 'The user’s id: a TypeID, sortable by creation time.'
}
export const webhookId: Schema = {
  type: 'string',
  pattern: WEBHOOK_ID.source,
  description: 'The webhook’s id: a TypeID, sortable by creation time.'
}
export const groupId: Schema = {
  type: 'string',
  pattern: GROUP_ID.source,
  description: 'The group’s id: a TypeID, sortable by creation time.'
}
export const keyId: Schema = {
  type: 'string',
  pattern: API_KEY_ID.source,
  description: 'The id of the API key’s record: a TypeID, sortable by creation time.'
}

export const tenantId: Schema = { type: 'string', pattern: TENANT.source, description: 'The tenant’s name.' }

export const eventId: Schema = { type: 'string', pattern: EVENT_ID.source, description: 'The event’s id: a TypeID.' }

interface ObjectOptions {
  optional?: readonly string[]
  example?: unknown
}

/** An object in an answer. It is open, since later versions of the server may add members. */
export function answer (
  properties: Readonly<Record<string, Schema>>,
  { optional = [], example }: ObjectOptions = {}
): Schema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((each) => !optional.includes(each)),
    ...(example !== undefined && { examples: [example] })
  }
}

/** An object in a request. It is closed: unknown members are refused. */
export function body (properties: Readonly<Record<string, Schema>>, options?: ObjectOptions): Schema {
  return { ...answer(properties, options), additionalProperties: false }
}

/** The answer to a write: all of what was written, or, without the scope to read it, what `minimal` describes. */
export function written (whole: string, minimal: string, scope: Scope): Schema {
  return {
    anyOf: [{ $ref: whole }, { $ref: minimal }],
    description: `The state after the write. Without the scope \`${scope}\`, little more than the id and times.`
  }
}

export function list (item: string, { max }: PageSize): Schema {
  return answer({ data: { type: 'array', items: { $ref: item }, maxItems: max }, meta: { $ref: 'ListMeta' } })
}

/** What the open alternative of a value in an answer is described by. */
export const LATER = 'Another value, which a later version of the server may add.'

/** A word in an answer: one of these, or one that a later version of the server adds. */
export function known (words: readonly string[], description?: string): Schema {
  return {
    anyOf: [{ type: 'string', enum: words }, { type: 'string', description: LATER }],
    ...(description !== undefined && { description })
  }
}

/** The name of a user or a key. */
export const name: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: NAME_MAX,
  pattern: '\\S',
  description: 'Trimmed, normalised to NFC, then checked: at least one visible character, no control characters.'
}

/** A JSON Schema in the dialect of OpenAPI 3.1. `$ref` is the bare name of a component. */
export type Schema = Readonly<Record<string, unknown>>
