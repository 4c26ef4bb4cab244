import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import { missingFrom } from '../../lib/storage/storage-rules.ts'
import type { Storage, StorageInTransaction } from '../../lib/storage/storage.ts'

/** What is known of a store while a duty runs. */
export interface Watch {
  /** Methods that the duty needs and the store lacks. */
  missing: Set<string>
  /** Calls that have not been answered. */
  pending: Set<Call>
  /** All calls and their answers, in their order. */
  journal: Array<() => string>
  /** The first breach of a rule that holds for every method. */
  breach: Error | null
  transactions: number
}

/** A call of a method. `where`: through which store, if not the one that was given. */
interface Call { n: number, method: string, where: string, args: readonly unknown[] }

const SHOWN_CALLS = 40
const SHOWN_LENGTH = 160

export function newWatch (): Watch {
  return { missing: new Set(), pending: new Set(), journal: [], breach: null, transactions: 0 }
}

/** A call of a method that the store does not have yet: a duty that needs it is not reached, and has not failed. */
export class NotWritten extends Error {
  /** Every method that the store does not have yet. */
  readonly missing: readonly string[]

  constructor (method: string, missing: readonly string[] = [method]) {
    super(`the store has no ${method} yet`)
    this.name = 'NotWritten'
    this.missing = missing
  }
}

function shortened (value: unknown): string {
  const text = inspect(value, { depth: 4, breakLength: Infinity, compact: true })
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}

/** The writes of units, as `users usr_…1: 1 → 2`. */
function writtenBy (units: unknown): string {
  const all: unknown[] = Array.isArray(units) ? units : []
  return all.map((unit) => {
    const { writes = [], events = [], rewrites = [] } = Object(unit)
    const parts: string[] = Array.from(writes, (write) => {
      const { in: name, put, was } = Object(write)
      const { id } = Object(Object(put ?? was).record)
      const { keys, record: { start, nameKey, fields = {} } = Object(null) } = Object(put)
      // What may be taken, and what may not.
      const unique = [keys?.emailKey ?? start ?? nameKey ?? [], Object.keys(fields).length > 0 ? shortened(fields) : []]
      return [`${name} …${String(id).slice(-6)}:`, was?.record?.version ?? 'none', '→', put?.record?.version ?? 'none',
        ...unique.flat()].join(' ')
    })
    return `[${[...parts, ...events.length > 0 ? [`${events.length} events, the first of ${events[0].timestamp}`] : [],
      ...rewrites.length > 0 ? [`${rewrites.length} rewrites`] : []].join(', ')}]`
  }).join(' ').slice(0, 2 * SHOWN_LENGTH)
}

const nameOf = ({ n, where, method }: Call): string => `${n} ${where}${method}`
const shownCall = (call: Call): string => call.method === 'commit'
  ? `${nameOf(call)} ${writtenBy(call.args[0])}`
  : `${nameOf(call)}(${call.args.map(shortened).join(', ')})`

/** The reason of a rejection, with the code of the driver. */
export function reasonOf (error: unknown): string {
  if (!isStorageError(error)) return shortened(error)
  return `${error.code}${error.driverCode === undefined ? '' : ` (${error.driverCode})`}: ${error.message}`
}

/** The interleaving of the last calls, as lines. */
export function interleaving ({ journal }: Watch): string {
  if (journal.length === 0) return ''
  const lines = journal.slice(-SHOWN_CALLS).map((line) => `  ${line()}`)
  return `\nthe last calls (>) and their answers (<):\n${lines.join('\n')}`
}

export function waitingFor ({ pending }: Watch): string {
  return [...pending].map(shownCall).join('; ')
}

// A statement in a message: two words of SQL one after the other.
const SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER)\b.*\b(?:FROM|INTO|SET|WHERE|TABLE|INDEX|VALUES)\b/i
/** What a store throws only where it is asked to open. */
const OF_OPENING = ['schema_behind', 'schema_newer', 'field_taken']
const THROWN = ['unavailable', 'fault', 'idempotency_in_progress', ...OF_OPENING]

/** The longer texts among given values. Of one that can't be stored the parts: a message may escape what is between. */
function textsIn (value: unknown): string[] {
  if (typeof value === 'string') return value.split(/[\0\ud800-\udfff]/u).filter((part) => part.length >= 6)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** True if a text has another one that is no part of a longer word. */
function hasWhole (text: string, part: string): boolean {
  const isPart = (character = ''): boolean => /\w/.test(character)
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + part.length])) return true
  }
  return false
}

/** The messages of an error, and of what it came from. */
function messagesOf (error: unknown): string[] {
  if (error === undefined || error === null) return []
  return error instanceof Error ? [error.message, ...messagesOf(error.cause)] : [shortened(error)]
}

/** What is wrong with an error that a method has thrown, or null. */
function faultOf (error: unknown, { method, args }: Call): string | null {
  if (!isStorageError(error)) {
    return `${method} threw ${inspect(error, { depth: 1 })}\n` +
      'What is thrown is a StorageError with a code that the interface names. Translate the errors of your driver: a ' +
      'conflict or a lost connection is `unavailable`, a text that cannot be stored is `fault`.'
  }
  if (!THROWN.includes(error.code) || (method !== 'open' && OF_OPENING.includes(error.code))) {
    return `${method} threw ${error.code}: what refuses a unit is its outcome, and other failures are \`fault\``
  }
  const shown = `${messagesOf(error).join(' ')} ${error.driverCode ?? ''}`
  if (SQL.test(shown)) return `the StorageError of ${method} has SQL in its message, which can reach a log: ${shown}`
  // Names of fields are no values.
  const value = method === 'open' ? undefined : textsIn(args).find((text) => hasWhole(shown, text))
  if (value === undefined) return null
  return `the message of the StorageError of ${method}, or of its cause, has a value that was given, ` +
    `${inspect(value)}: ${shown}\nIt can reach a log. Say what is wrong without the value.`
}

/** Freezes a value in every part. */
function freeze (value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
}

/** Where a value has something else than plain objects, lists, texts, numbers, booleans and null; null if nowhere. */
function oddPart (value: unknown, path: string): string | null {
  if (value === null || ['string', 'boolean', 'number'].includes(typeof value)) return null
  if (typeof value !== 'object') return `${path} is ${inspect(value)}`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) {
    const { name = 'nothing' }: { name?: string } = Object(Object(prototype).constructor)
    return `${path} is an object of ${name}, no plain one`
  }
  for (const [name, member] of Object.entries(value)) {
    const odd = oddPart(member, `${path}.${name}`)
    if (odd !== null) return odd
  }
  return null
}

const VOID: readonly string[] = ['close', 'users.walk']

/**
 * The store, with the rules that hold for every method checked at every call: it changes nothing that it is given or
 * has returned, it returns plain values, it rejects with errors of the interface, and it throws nothing synchronously.
 */
export function watched (storage: Partial<Storage>, watch: Watch, where = ''): Storage {
  function breach (message: string, cause?: unknown): never {
    const error = new assert.AssertionError({ message })
    error.cause = cause
    watch.breach ??= error
    throw error
  }

  async function call (method: string, run: () => unknown, args: readonly unknown[]): Promise<unknown> {
    const made: Call = { n: watch.journal.length + 1, method, where, args }
    freeze(args)
    watch.journal.push(() => `> ${shownCall(made)}`)
    watch.pending.add(made)
    try {
      let promise: unknown
      try {
        promise = run()
      } catch (error) {
        breach(`${method} threw synchronously: it must return a promise that is rejected`, error)
      }
      if (typeof Object(promise).then !== 'function') {
        breach(`${method} returned ${inspect(promise)}: it must return a promise`)
      }
      const result = await promise
      watch.journal.push(() => `< ${nameOf(made)} gave ${shortened(result)}`)
      if (VOID.includes(method) ? result !== undefined : result === undefined) {
        breach(`${method} resolved to ${inspect(result)}`)
      }
      const odd = result === undefined ? null : oddPart(result, `the result of ${method}`)
      if (odd !== null) breach(`${odd}: return plain values of JSON`)
      freeze(result)
      return result
    } catch (error) {
      watch.journal.push(() => `< ${nameOf(made)} threw ${reasonOf(error)}`)
      // What the caller's own function has thrown is passed on.
      const fault = method === 'users.walk' && !isStorageError(error) ? null : faultOf(error, made)
      if (watch.breach === null && fault !== null) breach(fault, error)
      throw error
    } finally {
      watch.pending.delete(made)
    }
  }

  /** The methods of a store or of a part of it. */
  function methodsOf (target: object, names: readonly string[], prefix = '') {
    return Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => {
      const run: unknown = Reflect.get(target, name)
      if (typeof run === 'function') return call(`${prefix}${name}`, () => Reflect.apply(run, target, args), args)
      watch.missing.add(`${prefix}${name}`)
      return Promise.reject(new NotWritten(`${prefix}${name}`))
    }]))
  }

  const { name = '', join, users = {}, log = {} } = storage
  const joined = join && {
    join (transaction: unknown): StorageInTransaction {
      const inside = Reflect.apply(join, storage, [transaction])
      const lacks = missingFrom(inside)
      if (lacks.length > 0) breach(`join gave a store without ${lacks.join(', ')}`)
      const label = `in transaction ${++watch.transactions}: `
      return Object({
        ...watched(inside, watch, label),
        afterCommit: (callback: () => void) => Reflect.apply(inside.afterCommit, inside, [callback])
      })
    }
  }
  return Object({
    ...methodsOf(storage, ['open', 'close', 'commit', 'find', 'list', 'listTenants']),
    name,
    users: methodsOf(users, ['find', 'list', 'walk'], 'users.'),
    log: methodsOf(log, ['read', 'history', 'find', 'before', 'rewrite', 'prune', 'pruned'], 'log.'),
    ...joined,
    ...(storage.watch !== undefined && { watch: (listener: () => void) => storage.watch?.(listener) }),
    ...(storage.server !== undefined && { server: storage.server })
  })
}
