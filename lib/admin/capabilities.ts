import type { Caller } from '../api-keys/authenticator.ts'
import type { PageSize } from '../core/paging.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'

/** What a mount offers, as far as a client needs to know before it asks. */
export interface Offer {
  /** True if there are routes of them. */
  apiKeys: boolean
  events: boolean
  webhooks: boolean
  groups: boolean
  /** True if users, keys and events belong to tenants. */
  tenants: boolean
  /** How many seconds deleted users are kept, who can be restored; null: they are not kept. */
  trash: number | null
  /** True if writes need `If-Match`. */
  requireIfMatch: boolean
  pageSize: PageSize
  fields: FieldsSchema
  /** The host's own scopes, and what each allows. */
  scopes: Readonly<Record<string, string>>
}

/** What a caller can do, and with what. */
export interface Capabilities {
  caller: {
    type: 'api_key' | 'static' | 'host'
    id: string
    /** What it is called. */
    name?: string
    scopes: readonly string[]
    /** Absent: never, or it is not known. */
    expiresAt?: string
    /** The tenant that the caller is bound to. Absent: it is bound to none. */
    tenant?: string
  }
  offers: {
    apiKeys: boolean, events: boolean, webhooks: boolean, groups: boolean, tenants: boolean, trash: boolean
  }
  requireIfMatch: boolean
  /** How many seconds deleted users are kept. Absent: they are not kept. */
  trashRetention?: number
  pageSize: PageSize
  /** The host's own scopes, and what each allows. */
  scopes: Readonly<Record<string, string>>
  /** JSON Schema of the host's fields. */
  fields: { properties: FieldsSchema['properties'], required: readonly string[] }
  /** The fields that lists can be filtered by. */
  filterable: readonly string[]
  /** The fields that a search covers, besides names and e-mail addresses. */
  searchable: readonly string[]
}

export function capabilitiesOf ({ principal, expiresAt }: Caller, offer: Offer): Capabilities {
  const { apiKeys, events, webhooks, groups, tenants, trash, requireIfMatch, pageSize, fields, scopes } = offer
  return {
    caller: {
      type: principal.type,
      id: principal.id,
      ...(principal.name !== null && { name: principal.name }),
      scopes: [...principal.scopes],
      ...(expiresAt !== null && { expiresAt }),
      ...(principal.tenant !== undefined && { tenant: principal.tenant })
    },
    offers: { apiKeys, events, webhooks, groups, tenants, trash: trash !== null },
    requireIfMatch,
    ...(trash !== null && { trashRetention: trash }),
    pageSize,
    scopes,
    fields: { properties: fields.properties, required: fields.required },
    filterable: [...fields.filters.keys()],
    searchable: fields.searched
  }
}
