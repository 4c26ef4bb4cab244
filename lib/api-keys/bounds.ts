import { bodyReader } from '../core/body-shape.ts'
import type { Fault } from '../core/fault.ts'
import { ADDRESSES_MAX, KEY_RATE_MAX } from '../core/limits.ts'
import { checkName } from '../core/text.ts'
import { Type } from '../core/typebox.ts'
import type { ApiKeyRecord, KeyRateLimit } from '../storage/storage.ts'
import { canonicalNetwork } from './addresses.ts'

// What a key is bound to beside its scopes, its expiry and its tenant, and whose it is.

const DAY_SECONDS = 24 * 60 * 60

/** The members of a record that a rotation keeps, beside the name and the scopes. */
export type KeyBounds = Pick<ApiKeyRecord, 'owner' | 'addresses' | 'rateLimit'>

/** The same members as a caller sends them: null is none, and an absent one is what the caller has itself. */
export interface AskedBounds {
  owner?: string | null
  addresses?: readonly string[] | null
  rateLimit?: KeyRateLimit | null
}

const readAddresses = bodyReader(Type.Array(Type.String()))
const readRateLimit = bodyReader(
  Type.Object({ max: Type.Number(), window: Type.Number() }, { additionalProperties: false }))

const within = (member: string, faults: readonly Fault[]): Fault[] =>
  faults.map((fault) => ({ ...fault, pointer: `/${member}${fault.pointer ?? ''}` }))

function checkOwner (owner: string, faults: Fault[]): string {
  const checked = checkName(owner)
  if ('value' in checked) return checked.value
  faults.push({ pointer: '/owner', ...checked })
  return ''
}

function checkAddresses (given: unknown, faults: Fault[]): string[] {
  const pointer = '/addresses'
  const read = readAddresses(given)
  if ('faults' in read) {
    faults.push(...within('addresses', read.faults))
    return []
  }
  const { value } = read
  if (value.length === 0) faults.push({ pointer, code: 'too_few', detail: 'must have at least 1 network, or be null' })
  if (value.length > ADDRESSES_MAX) {
    faults.push({ pointer, code: 'too_many', detail: `must have at most ${ADDRESSES_MAX} networks` })
    return []
  }
  const detail = 'must be a network in CIDR form, such as 203.0.113.0/24 or 2001:db8::/32; one address is /32 or /128'
  const networks = value.map((text, i) => {
    const network = canonicalNetwork(text)
    if (network === null) faults.push({ pointer: `${pointer}/${i}`, code: 'format', detail })
    return network ?? ''
  })
  return [...new Set(networks)]
}

function checkRateLimit (given: unknown, faults: Fault[]): KeyRateLimit {
  const read = readRateLimit(given)
  const { max, window } = 'value' in read ? read.value : { max: 1, window: 1 }
  if ('faults' in read) faults.push(...within('rateLimit', read.faults))
  const range = (value: number, most: number, member: string, unit: string): void => {
    if (Number.isInteger(value) && value >= 1 && value <= most) return
    const detail = `must be a whole number of ${unit} from 1 to ${most}`
    faults.push({ pointer: `/rateLimit/${member}`, code: 'range', detail })
  }
  range(max, KEY_RATE_MAX, 'max', 'requests')
  range(window, DAY_SECONDS, 'window', 'seconds')
  return { max, window }
}

/** The bounds that are asked for, checked. Adds what is wrong to `faults`. */
export function checkBounds (
  { owner, addresses, rateLimit }: { owner?: string | null, addresses?: unknown, rateLimit?: unknown },
  faults: Fault[]
): AskedBounds {
  return {
    ...(owner !== undefined && { owner: owner === null ? null : checkOwner(owner, faults) }),
    ...(addresses !== undefined && { addresses: addresses === null ? null : checkAddresses(addresses, faults) }),
    ...(rateLimit !== undefined && { rateLimit: rateLimit === null ? null : checkRateLimit(rateLimit, faults) })
  }
}

/** The bounds of a record, or of what was asked for: without those that are none. */
export function boundsOf ({ owner, addresses, rateLimit }: AskedBounds): KeyBounds {
  return {
    ...(typeof owner === 'string' && { owner }),
    ...(addresses && { addresses: [...addresses] }),
    ...(rateLimit && { rateLimit: { max: rateLimit.max, window: rateLimit.window } })
  }
}
