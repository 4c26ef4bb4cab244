// The answers of the HTTP API, as far as the page reads them.

export type Json = string | number | boolean | null | Json[] | JsonObject
export interface JsonObject { [name: string]: Json }

/** A JSON Schema of the host's fields. */
export type Schema = Readonly<Record<string, unknown>>

export interface User extends JsonObject {
  id: string
  name: string
  email: string
  status: 'active' | 'suspended'
  statusReason: string | null
  version: number
  createdAt: string
  updatedAt: string
}

/** Who made a change, by the name that it had then. */
export type Actor = { type: string, id: string, name: string | null }

export interface DeletedUser extends User {
  deletedAt: string
  deletedBy: Actor | null
}

/** What a write answers to a key that may not read users. */
export type MinimalUser = Pick<User, 'id' | 'createdAt' | 'updatedAt'>

export interface ApiKey {
  id: string
  name: string
  scopes: string[]
  start: string
  createdAt: string
  expiresAt?: string
  revokedAt?: string
  lastUsedAt?: string
  rotatedFrom?: string
  tenant?: string
  owner?: string
  addresses?: string[]
  rateLimit?: { max: number, window: number }
}
export interface NewApiKey extends ApiKey { key: string }

export interface Webhook {
  id: string
  url: string
  types: string[]
  description?: string
  enabled: boolean
  disabledReason?: 'gone' | 'failing'
  failingSince?: string
  createdAt: string
}
export interface NewWebhook extends Webhook { secret: string }

export interface Attempt { at: string, status?: number, milliseconds: number, error?: string, response?: string }
export interface Delivery {
  id: string
  event: string
  type: string
  status: 'pending' | 'succeeded' | 'failed'
  attempts: Attempt[]
  nextAttemptAt?: string
  createdAt: string
}

export interface LoggedEvent {
  id: string
  type: string
  timestamp: string
  data: JsonObject
  before?: JsonObject
  actor: Actor | null
  requestId: string | null
  reverts?: string
  tenant?: string
}

export interface Listed<Item> {
  data: Item[]
  meta: { page?: number, limit: number, total: number }
}
export interface Feed {
  data: LoggedEvent[]
  meta: { limit: number, more: boolean, position?: string }
}

export interface Group {
  id: string
  name: string
  externalId?: string
  members: number
  version: number
  tenant?: string
  createdAt: string
  updatedAt: string
}

export interface Tenant { id: string, users: number }

export interface Capabilities {
  caller: { type: string, id: string, name?: string, scopes: string[], expiresAt?: string, tenant?: string }
  offers: { apiKeys: boolean, events: boolean, webhooks: boolean, groups: boolean, tenants: boolean, trash: boolean }
  requireIfMatch: boolean
  trashRetention?: number
  pageSize: { default: number, max: number }
  scopes: Readonly<Record<string, string>>
  fields: { properties: Readonly<Record<string, Schema>>, required: readonly string[] }
  filterable: readonly string[]
  searchable: readonly string[]
}

/** One fault of a request (`errors` of RFC 9457 problem details). */
export interface Fault {
  pointer?: string
  parameter?: string
  code: string
  detail: string
}

export function isObject (value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
