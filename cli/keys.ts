import { createApiKeysService, type ApiKeysService, type NewApiKey } from '../lib/api-keys/service.ts'
import { createVerifier } from '../lib/api-keys/verifier.ts'
import { DEFAULT_KEY_PREFIX } from '../lib/api-keys/key-text.ts'
import { type ApiKey, endOf } from '../lib/api-keys/record.ts'
import { isScope, SCOPES } from '../lib/api-keys/scopes.ts'
import { optionCheck } from '../lib/option-check.ts'
import { keyRows, peppersOf } from '../lib/options.ts'
import type { Storage } from '../lib/storage.ts'
import { UsageError } from './failure.ts'
import { type Output, tableOf } from './output.ts'

/** What the server that uses the keys was given too. */
export interface KeyOptions {
  keyPrefix?: string
}

const PAGE = 100

const refuseWrong = optionCheck(keyRows)

/**
 * The keys of a storage; the pepper comes from the environment, since the arguments of a process can be read by others.
 * @throws TypeError for a prefix or a pepper that the server would refuse
 */
export function keysOf (storage: Storage, { keyPrefix = DEFAULT_KEY_PREFIX }: KeyOptions): ApiKeysService {
  const pepper = process.env['FASTIFY_USERS_PEPPER']
  refuseWrong('fastify-users: keys', { keyPrefix, ...(pepper !== undefined && { pepper }) })
  return createApiKeysService({
    storage,
    verifier: createVerifier({ storage, peppers: peppersOf(pepper), keyCache: 0 }),
    limits: { default: PAGE, max: PAGE },
    keyPrefix,
    pepper,
    publish: () => {},
    log: () => {}
  })
}

function show (output: Output, made: NewApiKey): void {
  const { key, ...record } = made
  if (output.json) return output.value(made)
  output.note(`${record.id}  ${record.scopes.join(' ')}  ${record.expiresAt === undefined ? 'never expires' : `expires ${record.expiresAt}`}\nThe key, shown this once:`)
  output.line(key)
}

/** A whole number of seconds, given as such or with a unit: 90, 15m, 24h, 30d. */
function secondsOf (text: string): number {
  const [, amount, unit = 's'] = /^(\d{1,10})([smhd]?)$/.exec(text) ?? []
  if (amount === undefined) throw new UsageError('a time must be a whole number of seconds, or of minutes, hours or days: 90, 15m, 24h, 30d')
  return Number(amount) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1)
}

export interface CreateKeyOptions {
  name: string
  scopes?: string
  expiresIn?: string
  expiresAt?: string
  expires: boolean
}

/** Makes a key and shows its text. @throws UsageError, UsersError */
export async function createKey (keys: ApiKeysService, output: Output, { name, scopes, expiresIn, expiresAt, expires }: CreateKeyOptions): Promise<void> {
  if ([expiresIn !== undefined, expiresAt !== undefined, !expires].filter(Boolean).length > 1) throw new UsageError('give one of --expires-in, --expires-at and --no-expires')
  const wanted = scopes?.split(',').map((scope) => scope.trim())
  const known = wanted?.filter(isScope)
  if (known?.length !== wanted?.length) throw new UsageError(`--scopes must be some of ${SCOPES.join(', ')}, with commas between them`)
  show(output, await keys.create({
    name,
    ...(known !== undefined && { scopes: known }),
    ...(expiresIn !== undefined && { expiresIn: secondsOf(expiresIn) }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(!expires && { expiresAt: null })
  }))
}

function stateOf (key: ApiKey, now: number): string {
  if (now < endOf(key)) return 'active'
  return key.revokedAt === undefined ? 'expired' : 'revoked'
}

/** Shows every key, oldest first. @throws UsersError */
export async function listKeys (keys: ApiKeysService, output: Output): Promise<void> {
  const all: ApiKey[] = []
  for (let page = 1; ; page++) {
    const { items, more } = await keys.list({ page, limit: PAGE })
    all.push(...items)
    if (!more) break
  }
  if (output.json) return output.value(all)
  const now = Date.now()
  output.line(tableOf(
    ['ID', 'NAME', 'STATE', 'SCOPES', 'START', 'CREATED', 'EXPIRES', 'LAST USED'],
    all.map((key) => [key.id, key.name, stateOf(key, now), key.scopes.join(' '), key.start, key.createdAt, key.expiresAt ?? 'never', key.lastUsedAt ?? '-'])
  ))
}

/** Makes a key's successor and shows its text. @throws UsageError, UsersError */
export async function rotateKey (keys: ApiKeysService, output: Output, id: string, { overlap }: { overlap?: string }): Promise<void> {
  show(output, await keys.rotate(id, overlap === undefined ? {} : { overlap: secondsOf(overlap) }))
}

/** Ends a key. @throws UsersError */
export async function revokeKey (keys: ApiKeysService, output: Output, id: string): Promise<void> {
  const key = await keys.revoke(id)
  if (output.json) output.value(key)
  else output.line(`${key.id} is revoked. Servers that remember it refuse it within their keyCache, 5 seconds by default.`)
}
