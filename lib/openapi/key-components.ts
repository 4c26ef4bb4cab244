import { ADDRESSES_MAX, KEY_RATE_MAX, KEY_USES_DAYS, OVERLAP_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import { answer, body, keyId, known, list, moment, name, type Schema, written } from './component-parts.ts'

export const KEY = {
  id: 'key_01h455vb4pex5vsknk084sn02q',
  name: 'reporting',
  scopes: ['users:read'],
  start: 'uk_4fK8sQ1zXb0T',
  createdAt: '2026-01-31T09:30:00.000Z',
  expiresAt: '2027-01-31T09:30:00.000Z'
}

const network: Schema = { type: 'string', description: 'A network in CIDR form. A single address is /32 or /128.' }
const rateMembers = {
  max: { type: 'integer', minimum: 1, maximum: KEY_RATE_MAX, description: 'Maximum number of requests in a window.' },
  window: { type: 'integer', minimum: 1, maximum: 86_400, description: 'Seconds.' }
} satisfies Readonly<Record<string, Schema>>

const keyText: Schema = { type: 'string', description: 'The key itself, shown only in this answer.' }
const keyMembers = (scopes: readonly string[]) => ({
  id: keyId,
  name,
  scopes: { type: 'array', items: known(scopes), minItems: 1, description: 'What the key may do.' },
  start: { type: 'string', description: 'The first characters of the key, safe to show.' },
  createdAt: moment('When the key was created.'),
  expiresAt: moment('When the key expires. Absent if it never does.'),
  revokedAt: moment('When the key was revoked. Absent if it was not.'),
  lastUsedAt: moment('When the key was last used, to the minute. Absent if it never was.'),
  rotatedFrom: { ...keyId, description: 'The key that this one replaces.' },
  owner: { ...name, description: 'Who is responsible for the key. Absent if nobody is named.' },
  addresses: {
    type: 'array',
    items: network,
    minItems: 1,
    maxItems: ADDRESSES_MAX,
    description: 'The networks that the key works from. Absent if it works from anywhere.'
  },
  rateLimit: answer(rateMembers)
} satisfies Readonly<Record<string, Schema>>)
const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] })
const OPTIONAL_KEY_MEMBERS = ['expiresAt', 'revokedAt', 'lastUsedAt', 'rotatedFrom', 'owner', 'addresses', 'rateLimit']

/** Components of API keys. `scopes`: those that keys can have. */
export function keyComponents (pageSize: PageSize, scopes: readonly string[]): Readonly<Record<string, Schema>> {
  const members = keyMembers(scopes)
  const { start, createdAt, expiresAt } = members
  return {
    ApiKey: answer(members, { optional: OPTIONAL_KEY_MEMBERS, example: KEY }),
    /** A key in an event. After its tenant was deleted, what could name a person is null. */
    EventApiKey: answer({
      ...members, name: orNull(members.name), owner: orNull(members.owner), addresses: orNull(members.addresses)
    }, { optional: OPTIONAL_KEY_MEMBERS }),
    ApiKeyList: list('ApiKey', pageSize),
    NewApiKey: answer(
      { ...members, key: keyText },
      { optional: OPTIONAL_KEY_MEMBERS, example: { ...KEY, key: 'uk_…' } }
    ),
    MinimalNewApiKey: answer({ id: keyId, start, createdAt, expiresAt, key: keyText }, { optional: ['expiresAt'] }),
    RotatedApiKey: written('NewApiKey', 'MinimalNewApiKey', 'keys:read'),
    ApiKeyInput: body({
      name,
      scopes: {
        type: 'array',
        items: { type: 'string', enum: scopes },
        minItems: 1,
        description: 'Only scopes that the caller has. Default: the caller’s own `users:` scopes.'
      },
      expiresAt: {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'No later than the caller’s own expiry; `null` if never. Default: a year from now. ' +
          'Not together with `expiresIn`.'
      },
      expiresIn: { type: 'integer', minimum: 1, description: 'Seconds from now, instead of `expiresAt`.' },
      owner: { ...name, type: ['string', 'null'], description: 'Who is responsible for the key: a text for people.' },
      addresses: {
        type: ['array', 'null'],
        items: network,
        minItems: 1,
        maxItems: ADDRESSES_MAX,
        description: 'The networks that the key works from, within the caller’s own; `null` if anywhere. ' +
          'Default: the caller’s own.'
      },
      rateLimit: {
        ...body(rateMembers),
        type: ['object', 'null'],
        description: 'The key’s own limit, no higher than the caller’s; `null` if only the general limit applies. ' +
          'Default: the caller’s own.'
      }
    }, {
      optional: ['scopes', 'expiresAt', 'expiresIn', 'owner', 'addresses', 'rateLimit'],
      example: { name: 'reporting', scopes: ['users:read'], expiresIn: 2_592_000 }
    }),
    ApiKeyUses: answer({
      data: {
        type: 'array',
        items: answer({
          day: { type: 'string', format: 'date', description: 'In UTC.' },
          uses: { type: 'integer', minimum: 1, description: 'Requests that the key was accepted for.' }
        }),
        description: `The days on which the key was used, oldest first. They are kept for ${KEY_USES_DAYS} days.`
      }
    }, { example: { data: [{ day: '2026-01-31', uses: 1250 }] } }),
    Rotation: body({
      overlap: {
        type: 'integer',
        minimum: 0,
        maximum: OVERLAP_MAX,
        description: 'Seconds that the old key keeps working. Default: a day.'
      },
      expiresAt: {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'When the new key expires, no later than the caller; `null` if never. Default: the lifetime ' +
          'of the old key, but no later than the caller. Not together with `expiresIn`.'
      },
      expiresIn: { type: 'integer', minimum: 1, description: 'Seconds from now, instead of `expiresAt`.' }
    }, { optional: ['overlap', 'expiresAt', 'expiresIn'], example: { overlap: 3600 } })
  }
}
