import { markOf, pepperMark } from '../lib/api-keys/key-text.ts'
import { endOf } from '../lib/storage/storage-rules.ts'
import { repositoryOf } from '../lib/storage/repository.ts'
import type { ApiKeyRecord, Storage } from '../lib/storage/storage.ts'
import { type KeyOptions, settingsOf } from './keys.ts'
import type { TenantOptions } from './common.ts'
import type { Output } from './output.ts'

const NEWEST = 100
const ONE = { from: { offset: 0 }, limit: 1, order: 'asc' } as const

/**
 * Warns where a new key differs from each of the newest active ones, since the server, which alone has its options,
 * would refuse it; and of one that reaches all tenants because none was named.
 */
export async function warnOfSettings (
  storage: Storage, output: Output, options: KeyOptions & TenantOptions
): Promise<void> {
  const { prefix, pepper: [pepper] } = settingsOf(options)
  if (options.tenant === undefined && (await storage.listTenants(ONE)).total > 0) {
    output.note('Warning: this key belongs to no tenant, and reaches the users of all. ' +
      'For a key of one, revoke it and pass --tenant.')
  }
  const { items } = await repositoryOf(storage).apiKeys.list({ from: { offset: 0 }, limit: NEWEST, order: 'desc' })
  const active = items.filter((key) => Date.now() < endOf(key))
  const lacks = (fits: (key: ApiKeyRecord) => boolean): boolean => active.length > 0 && !active.some(fits)
  if (lacks(({ start }) => start.startsWith(`${prefix}_`))) {
    const prefixes = [...new Set(active.map(({ start }) => start.replace(/_.*/, '_')))].join(', ')
    output.note(`Warning: no active key begins with ${prefix}_; they begin with ${prefixes}. ` +
      'Pass the apiKeys.prefix of the server as --key-prefix: it refuses keys with any other prefix.')
  }
  if (lacks(({ digest }) => markOf(digest) === pepperMark(pepper))) {
    const problem = pepper === undefined
      ? 'the active keys were made with a pepper, and FASTIFY_USERS_PEPPER is not set'
      : 'no active key was made with the first pepper of FASTIFY_USERS_PEPPER'
    output.note(`Warning: ${problem}. Set it to the value of the server, which refuses keys made with another one.`)
  }
}
