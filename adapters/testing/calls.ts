import assert from 'node:assert/strict'
import { inspect, isDeepStrictEqual } from 'node:util'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import { interfaceCall, type KitStorage } from './kit-storage.ts'

/** The methods that change a store. */
export type Writer = 'createUser' | 'updateUser' | 'deleteUser' | 'prune' |
  'putAwayUser' | 'restoreUser' | 'purgeUser' | 'createApiKey' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'

/** The methods that read a store. */
export type Reader = 'findUser' | 'listUsers' | 'findDeletedUser' | 'listDeletedUsers' | 'findApiKey' | 'listApiKeys'

/** A call of a method, as data: its name and its arguments. */
export type CallOf<Method extends Writer | Reader> = {
  [Each in Method]: readonly [Each, ...Parameters<KitStorage[Each]>]
}[Method]

export type Call = CallOf<Writer | Reader>

/** How a call ended: what it returned, or the code that it was refused with. */
export type Outcome = { returned: unknown } | { refused: string }

/** The target of calls: a store or a model. */
export type Callable = Pick<KitStorage, Writer | Reader>

/** Makes a call. @throws any error that is not a `StorageError` */
export async function outcomeOf (
  storage: Callable,
  [method, ...args]: Call
): Promise<Outcome> {
  try {
    const returned: unknown = await Reflect.apply(storage[method], storage, structuredClone(args))
    return { returned }
  } catch (error) {
    if (isStorageError(error)) return { refused: error.code }
    throw error
  }
}

const FORMAT = { depth: null, breakLength: 110, maxStringLength: 300, sorted: false } as const

/** A call as a line of code that an author can paste. */
export function written ([name, ...given]: Call): string {
  const [method, args] = interfaceCall(name, given)
  return `await storage.${method}(${args.map((arg) => inspect(arg, FORMAT)).join(', ')})`
}

/** A value for comparison. The order of members does not matter, except in fields: their JSON text is compared. */
function comparable (value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(comparable)
  return Object.fromEntries(Object.entries(value).map(([name, member]) =>
    [name, name === 'fields' ? JSON.stringify(member) : comparable(member)]))
}

/** Whether two outcomes or lists of them count as the same. */
export function isSame (one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(comparable(one), comparable(other))
}

/** A value as text: the same for values that count as the same. */
export function textOf (value: unknown): string {
  return inspect(comparable(value), { ...FORMAT, sorted: true })
}

/** Compares the outcome of a call with that on the model. `before`: the calls that led to it. */
export function requireOutcome (actual: Outcome, expected: Outcome, call: Call, before: readonly Call[]): void {
  if (isSame(actual, expected)) return
  const lines = [...before, call].map(written).join('\n')
  assert.fail([
    'after these calls, the last one has an unexpected result:',
    lines,
    `  expected: ${inspect(expected, FORMAT)}`,
    `  got:      ${inspect(actual, FORMAT)}`
  ].join('\n'))
}
