import { type ApiKey } from '../lib/api-keys/record.ts'
import type { ApiKeyInput } from '../lib/api-keys/rules.ts'
import { isHostScope, type Scope, SCOPES, scopeIn, scopesOf } from '../lib/api-keys/scopes.ts'
import {
  type ApiKeysService, createApiKeysService, type NewApiKey, UNBOUNDED, UNGUARDED
} from '../lib/api-keys/service.ts'
import { createVerifier } from '../lib/api-keys/verifier.ts'
import { newEvent } from '../lib/storage/recorded-events.ts'
import { endOf } from '../lib/storage/storage-rules.ts'
import { repositoryOf } from '../lib/storage/repository.ts'
import type { Storage } from '../lib/storage/storage.ts'
import { type Bound, callOf, type TenantOptions } from './common.ts'
import { keyOptions } from '../lib/mount/option-groups.ts'
import { secretOf, variableOf } from './environment.ts'
import { UsageError } from './failure.ts'
import { type Output, writeOnce } from './output.ts'
import type { Cell } from './table.ts'

/** An option that the server which uses the keys has too. */
export interface KeyOptions {
  keyPrefix?: string
}

const PAGE = 100
const NO_USES = 'No uses are stored: the key was not used, or the servers do not count uses (option ' +
  'apiKeys.countUses; COUNT_KEY_USES of the standalone service).'
const PEPPER = 'FASTIFY_USERS_PEPPER'

/** True if a server records events in this storage: then there is one, since the newest always stays. */
export async function isLogged ({ log }: Storage): Promise<boolean> {
  const page = await log.read({ after: null, limit: 1, types: null })
  return (page?.events.length ?? 0) > 0
}

/**
 * The prefix and the peppers. These come from the environment, since others can read the arguments of a process.
 * @throws UsageError for a prefix or a pepper that the server would refuse
 */
export function settingsOf ({ keyPrefix: prefix }: KeyOptions) {
  // The standalone service takes an empty variable for none too.
  const secret = secretOf(PEPPER) ?? ''
  const pepper = secret === '' ? undefined : secret.split(',')
  const problems = [
    ['--key-prefix', prefix === undefined ? null : keyOptions.prefix.problem(prefix)],
    [variableOf(PEPPER), pepper === undefined ? null : keyOptions.pepper.problem(pepper)]
  ].flatMap(([name, problem]) => problem === null ? [] : [`${name} ${problem}`])
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return { prefix: keyOptions.prefix.read(prefix), pepper: keyOptions.pepper.read(pepper) }
}

/** The scopes of a list. A server's own are not known here, so that any name that they can have will do. */
const scopesIn = (list = '') => list.split(',').map((scope) => scope.trim())

function knownScopes (list: string | undefined): readonly Scope[] {
  return scopesOf(true, Object.fromEntries(scopesIn(list).filter(isHostScope).map((scope) => [scope, scope])))
}

/** The keys of a storage. `isLogged`: changes are recorded. @throws UsageError as `settingsOf` does */
export function keysOf (
  storage: Storage, options: KeyOptions & TenantOptions & { scopes?: string }, isLogged: boolean
): Bound<ApiKeysService> {
  const { prefix: keyPrefix, pepper: peppers } = settingsOf(options)
  const repository = repositoryOf(storage)
  const service = createApiKeysService({
    repository,
    verifier: createVerifier({ repository, peppers, ttl: 0 }),
    // The servers count, and store it themselves.
    flushUses: async () => {},
    pageSize: { default: PAGE, max: PAGE },
    keyPrefix,
    pepper: peppers[0],
    publish: () => {},
    makeEvent: isLogged ? newEvent : () => null,
    scopes: knownScopes(options.scopes)
  })
  return { service, call: callOf(options) }
}

async function show (output: Output, made: NewApiKey): Promise<void> {
  const { key, id, scopes, expiresAt } = made
  const lost = `${id} was created, but the key itself is lost: revoke it with fastify-users keys revoke ${id}`
  if (output.json) return writeOnce(output, JSON.stringify(made), lost)
  const expiry = expiresAt === undefined ? 'never expires' : `expires ${expiresAt}`
  output.note(`${id}  ${scopes.join(' ')}  ${expiry}\nThe key, shown only now:`)
  await writeOnce(output, key, lost)
}

/** Seconds, given to an option as such or with a unit: 90, 15m, 24h, 30d. @throws UsageError */
export function secondsOf (option: string, text: string): number {
  const [, amount, unit = 's'] = /^(\d{1,10})([smhd]?)$/.exec(text) ?? []
  if (amount === undefined) {
    throw new UsageError(`${option} must be a whole number of seconds, minutes, hours or days: 90, 15m, 24h, 30d`)
  }
  return Number(amount) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1)
}

export interface ExpiryOptions {
  expiresIn?: string
  expiresAt?: string
  expires: boolean
}

/** When a new key expires; nothing if that was not said. @throws UsageError */
function expiryOf ({ expiresIn, expiresAt, expires }: ExpiryOptions): Pick<ApiKeyInput, 'expiresAt' | 'expiresIn'> {
  if ([expiresIn !== undefined, expiresAt !== undefined, !expires].filter(Boolean).length > 1) {
    throw new UsageError('give one of --expires-in, --expires-at and --no-expires')
  }
  return {
    ...(expiresIn !== undefined && { expiresIn: secondsOf('--expires-in', expiresIn) }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(!expires && { expiresAt: null })
  }
}

export interface CreateKeyOptions extends ExpiryOptions {
  name: string
  scopes?: string
  owner?: string
  addresses?: string
  rateLimit?: string
}

/** A limit of requests: 600/1m. */
function rateLimitOf (text: string): { max: number, window: number } {
  const [, max, window = ''] = /^(\d{1,10})\/(\d+[smhd]?)$/.exec(text) ?? []
  if (max === undefined) throw new UsageError('--rate-limit must be a number of requests and a time: 600/1m')
  return { max: Number(max), window: secondsOf('--rate-limit', window) }
}

/** Creates a key and shows its text. @throws UsageError, UsersError */
export async function createKey (
  { service: keys, call }: Bound<ApiKeysService>, output: Output, options: CreateKeyOptions
): Promise<void> {
  const { name, scopes, owner, addresses, rateLimit } = options
  const expiry = expiryOf(options)
  const known = scopes === undefined
    ? undefined
    : scopesIn(scopes).map((text) => {
      const scope = scopeIn(knownScopes(scopes), text)
      if (scope !== undefined) return scope
      throw new UsageError(`--scopes must be some of ${SCOPES.join(', ')}, or scopes of your server's own such as ` +
        'orders:read, separated by commas')
    })
  await show(output, await keys.create({
    name,
    ...(known !== undefined && { scopes: known }),
    ...expiry,
    ...(owner !== undefined && { owner }),
    ...(addresses !== undefined && { addresses: addresses.split(',').map((network) => network.trim()) }),
    ...(rateLimit !== undefined && { rateLimit: rateLimitOf(rateLimit) })
  }, { ...UNBOUNDED, ...call }))
}

function stateOf (key: ApiKey, now: number): Cell {
  if (now < endOf(key)) return { text: 'active' }
  return key.revokedAt === undefined ? { text: 'expired', tone: 'warning' } : { text: 'revoked', tone: 'bad' }
}

/** Shows every key, oldest first. @throws UsersError */
export async function listKeys ({ service: keys, call }: Bound<ApiKeysService>, output: Output): Promise<void> {
  const all: ApiKey[] = []
  for (let page = 1; ; page++) {
    const { items, more } = await keys.list({ page, limit: PAGE }, call)
    all.push(...items)
    if (!more) break
  }
  if (output.json) return output.value(all)
  const now = Date.now()
  const heads = ['ID', 'NAME', 'STATE', 'SCOPES', 'START', 'CREATED', 'EXPIRES', 'LAST USED', 'OWNER']
  const moment = (given: string | undefined, absent: string): Cell =>
    ({ text: given === undefined ? absent : output.moment(given) })
  const rows = all.map((key) => {
    const { id, name, scopes, start, createdAt, expiresAt, lastUsedAt, owner = '-' } = key
    return [
      id, name, stateOf(key, now), scopes.join(' '), { text: start },
      moment(createdAt, '-'), moment(expiresAt, 'never'), moment(lastUsedAt, '-'), owner
    ]
  })
  await output.table({ heads, rows, spare: ['START', 'CREATED', 'OWNER', 'SCOPES', 'EXPIRES', 'LAST USED'] })
}

/** Shows how often a key was used on each day, oldest first. @throws UsersError */
export async function showUses (
  { service: { uses }, call }: Bound<ApiKeysService>, output: Output, id: string
): Promise<void> {
  const days = await uses?.(id, call.tenant) ?? []
  if (output.json) return output.value(days)
  if (days.length === 0) return output.note(NO_USES)
  await output.table({ heads: ['DAY', 'USES'], rows: days.map(({ day, uses }) => [day, String(uses)]) })
}

export interface RotateKeyOptions extends ExpiryOptions { overlap?: string }

/** Creates a key's successor and shows its text. @throws UsageError, UsersError */
export async function rotateKey (
  { service: keys, call }: Bound<ApiKeysService>,
  output: Output,
  id: string,
  options: RotateKeyOptions
): Promise<void> {
  const { overlap } = options
  await show(output, await keys.rotate(id, {
    ...expiryOf(options),
    ...(overlap !== undefined && { overlap: secondsOf('--overlap', overlap) })
  }, { ...UNBOUNDED, ...call }))
}

/** Revokes a key. @throws UsersError */
export async function revokeKey (
  { service: keys, call }: Bound<ApiKeysService>,
  output: Output,
  id: string,
  { successors }: { successors: boolean }
): Promise<void> {
  const key = await keys.revoke(id, { successors }, { ...UNGUARDED, ...call })
  if (output.json) return output.value(key)
  for (const successor of key.successors ?? []) await output.line(`${successor.id} is revoked too: it is a successor.`)
  const when = 'within apiKeys.cache, 5 seconds by default'
  await output.line(`${key.id} is revoked. Servers that cached it refuse it ${when}.`)
}
