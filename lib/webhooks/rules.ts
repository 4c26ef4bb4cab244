import type { TSchema } from '@sinclair/typebox'
import { bodyReader } from '../core/body-shape.ts'
import { DATE_TIME, isOnCalendar } from '../core/moments.ts'
import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { EVENT_ID, WEBHOOK_ID } from '../core/ids.ts'
import { OVERLAP_MAX, WEBHOOK_TYPES_MAX, WEBHOOK_URL_MAX } from '../core/limits.ts'
import { type PageSize, type Paging, pagingParameters, readPaging } from '../core/paging.ts'
import { parameterFaults, type Parameters, wordParameter } from '../core/parameters.ts'
import { checkName } from '../core/text.ts'
import { Type } from '../core/typebox.ts'
import { TYPE_FILTERS } from '../events/rules.ts'
import type { DeliveryRecord } from '../storage/storage.ts'

const CLOSED = { additionalProperties: false }
const DAY_SECONDS = 86_400

const members = {
  url: Type.String(),
  types: Type.Optional(Type.Array(Type.String())),
  description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  enabled: Type.Optional(Type.Boolean())
}
const SECONDS = Type.Number({ title: 'a number of seconds' })
const readInput = bodyReader(Type.Object(members, CLOSED))
const readPatch = bodyReader(Type.Object({ ...members, url: Type.Optional(members.url) }, CLOSED))
const readRotation = bodyReader(Type.Object({ overlap: Type.Optional(SECONDS) }, CLOSED))
const readReplay = bodyReader(Type.Object({
  after: Type.Optional(Type.String()),
  since: Type.Optional(Type.String())
}, CLOSED))

/** The input for a new webhook. */
export interface WebhookInput {
  /** Where events are sent: https, with a public name or address. At most 2048 characters. */
  url: string
  /** Types of events, such as `user.created` or `user.*`; all by default. */
  types?: readonly string[]
  /** 1 to 200 characters. */
  description?: string | null
  /** True by default. */
  enabled?: boolean
}

/** The changes to a webhook; absent members stay as they are. */
export type WebhookPatch = Partial<WebhookInput>

/** Which events are delivered again: those after an event, or those since a time (RFC 3339). */
export type ReplayStart = { after: string } | { since: string }

type Values = Partial<{ url: string, types: string[], description: string | null, enabled: boolean }>
type Reader = ReturnType<typeof bodyReader<TSchema>>

function checkTypes (types: readonly string[], faults: Fault[]): string[] {
  if (types.length > WEBHOOK_TYPES_MAX) {
    faults.push({ pointer: '/types', code: 'too_many', detail: `must have at most ${WEBHOOK_TYPES_MAX} items` })
    return []
  }
  const detail = `must be one of ${TYPE_FILTERS.join(', ')}`
  types.forEach((type, i) => {
    if (!TYPE_FILTERS.includes(type)) faults.push({ pointer: `/types/${i}`, code: 'choice', detail })
  })
  return [...new Set(types)]
}

function checkDescription (description: string | null, faults: Fault[]): string | null {
  if (description === null) return null
  const checked = checkName(description)
  if ('value' in checked) return checked.value
  faults.push({ pointer: '/description', ...checked })
  return null
}

function checkValues (read: Reader, input: unknown, priorFaults: readonly Fault[]): Values {
  const result = read(input)
  if ('faults' in result) throw validationFailed([...priorFaults, ...result.faults])
  const { url, types, description, enabled }: Values = Object(result.value)
  const faults = [...priorFaults]
  if (url !== undefined && url.length > WEBHOOK_URL_MAX) {
    faults.push({ pointer: '/url', code: 'too_long', detail: `must have at most ${WEBHOOK_URL_MAX} characters` })
  }
  const values = {
    ...(url !== undefined && { url }),
    ...(types !== undefined && { types: checkTypes(types, faults) }),
    ...(description !== undefined && { description: checkDescription(description, faults) }),
    ...(enabled !== undefined && { enabled })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return values
}

/** Checks the input for a new webhook, except where its URL leads. @throws UsersError `validation_failed` */
export function checkWebhookInput (input: unknown, priorFaults: readonly Fault[]): Required<Values> {
  const { url = '', types = [], description = null, enabled = true } = checkValues(readInput, input, priorFaults)
  return { url, types, description, enabled }
}

/** Checks the changes to a webhook, except where its URL leads. @throws UsersError `validation_failed` */
export function checkWebhookPatch (patch: unknown, priorFaults: readonly Fault[]): Values {
  return checkValues(readPatch, patch, priorFaults)
}

/** Checks the options of a rotation, and returns the overlap in seconds. @throws UsersError `validation_failed` */
export function checkSecretRotation (options: unknown, priorFaults: readonly Fault[]): number {
  const read = readRotation(options)
  const faults = [...priorFaults, ...'faults' in read ? read.faults : []]
  const { overlap = DAY_SECONDS } = 'value' in read ? read.value : {}
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > OVERLAP_MAX) {
    const detail = `must be a whole number of seconds from 0 to ${OVERLAP_MAX}`
    faults.push({ pointer: '/overlap', code: 'range', detail })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return overlap
}

/** Checks where a replay starts. @throws UsersError `validation_failed` */
export function checkReplay (options: unknown, priorFaults: readonly Fault[]): ReplayStart {
  const read = readReplay(options)
  if ('faults' in read) throw validationFailed([...priorFaults, ...read.faults])
  const { after, since } = read.value
  const faults = [...priorFaults]
  if ((after === undefined) === (since === undefined)) {
    faults.push({ pointer: '', code: 'choice', detail: 'must have either after or since' })
  }
  if (after !== undefined && !EVENT_ID.test(after)) {
    faults.push({ pointer: '/after', code: 'format', detail: 'must be the id of an event' })
  }
  if (since !== undefined && !(DATE_TIME.test(since) && isOnCalendar(since) && Date.parse(since) >= 0)) {
    faults.push({ pointer: '/since', code: 'format', detail: 'must be an RFC 3339 date and time' })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return after === undefined ? { since: String(since) } : { after }
}

/** Which deliveries are listed. */
export interface DeliveriesQuery {
  page?: number
  limit?: number
  status?: DeliveryRecord['status']
}

const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const satisfies ReadonlyArray<DeliveryRecord['status']>

/** Declares the parameters of the list of deliveries. */
export function deliveriesParameters (size: PageSize): Parameters {
  const { page, limit } = pagingParameters(size, WEBHOOK_ID)
  return {
    page,
    limit,
    status: wordParameter(
      DELIVERY_STATUSES, 'Only deliveries with this status; `pending`: still to be sent or retried.'
    )
  }
}

type Query = Readonly<Record<string, unknown>>

/** Makes the checks of the parameters of lists. Both throw UsersError `validation_failed`. */
export function webhookQueryChecks (size: PageSize) {
  const check = (declared: Parameters) => (query: Query, priorFaults: readonly Fault[]): Paging => {
    const faults = [...priorFaults, ...parameterFaults(declared, query)]
    const paging = readPaging(query, size, faults)
    if (faults.length > 0) throw validationFailed(faults)
    return paging
  }
  const checkDeliveries = check(deliveriesParameters(size))
  return {
    list: check(pagingParameters(size, WEBHOOK_ID)),
    deliveries (query: Query, priorFaults: readonly Fault[]): Paging & Pick<DeliveriesQuery, 'status'> {
      const paging = checkDeliveries(query, priorFaults)
      const status = DELIVERY_STATUSES.find((each) => each === query['status'])
      return status === undefined ? paging : { ...paging, status }
    }
  }
}
