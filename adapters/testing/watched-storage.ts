import assert from 'node:assert/strict'
import { inspect, isDeepStrictEqual } from 'node:util'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import {
  EVENT_LOG_METHODS, KEY_USE_METHODS, METHODS, TRASH_METHODS, WEBHOOK_METHODS
} from '../../lib/storage/storage-rules.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { changeAll, copyOf, freeze, objectsIn, oddPart, textsIn } from './watched-values.ts'

/** What is known of a store while a duty runs. */
export interface Watch {
  /** Methods that the duty needs and the store lacks. */
  missing: Set<string>
  /** Methods that have been called and have not answered yet, with the number of calls. */
  pending: Map<string, number>
  /** The first breach of a rule that holds for every method. */
  breach: Error | null
}

export function newWatch (): Watch {
  return { missing: new Set(), pending: new Map(), breach: null }
}

/** A call of a method that the store does not have yet: a duty that needs it is not reached, and has not failed. */
export class NotWritten extends Error {
  readonly method: string
  /** Every method that the store does not have yet. */
  readonly missing: readonly string[]

  constructor (method: string, missing: readonly string[] = [method]) {
    super(`the store has no ${method} yet`)
    this.name = 'NotWritten'
    this.method = method
    this.missing = missing
  }
}

/** Methods that are given names. */
const NAMING: readonly string[] = ['check', 'migrate']

const VOID: readonly string[] = [
  'check', 'migrate', 'close', 'readUsers', 'prune', 'webhooks.insert', 'keyUses.add'
]

// A statement in a message: two words of SQL one after the other.
const SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER)\b.*\b(?:FROM|INTO|SET|WHERE|TABLE|INDEX|VALUES)\b/i

/** Refusals of a write, which are outcomes: a store throws them only inside itself. */
const OUTCOMES: readonly string[] = [
  'email_taken', 'field_taken', 'version_mismatch', 'api_key_inactive', 'last_admin_key'
]

/** True if a text has another one that is no part of a longer word. */
function hasWhole (text: string, part: string): boolean {
  const isPart = (character = ''): boolean => /\w/.test(character)
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + part.length])) return true
  }
  return false
}

/** What is wrong with an error that a method has thrown, or null. */
function faultOf (error: unknown, method: string, args: readonly unknown[]): string | null {
  if (error instanceof NotWritten) return null
  if (!isStorageError(error)) {
    return `${method} threw ${inspect(error, { depth: 1 })}\n` +
      'A refusal is a StorageError with a code that the interface names. Translate the errors of your driver: a ' +
      'record that exists, a conflict, a lost connection (`unavailable`), a text it cannot store (`fault`).'
  }
  if (method.startsWith('write') && OUTCOMES.includes(error.code)) {
    return `${method} threw ${error.code}: what refuses a write is its outcome, { code: '${error.code}' }`
  }
  const shown = `${error.message} ${error.driverCode ?? ''}`
  if (SQL.test(shown)) return `the StorageError of ${method} has SQL in its message, which can reach a log: ${shown}`
  // Names of fields are no values, and the name of a constraint may have a word of the interface in it.
  const value = NAMING.includes(method) ? undefined : textsIn(args).find((text) => hasWhole(shown, text))
  if (value === undefined) return null
  return `the message of the StorageError of ${method} has a value that was given, ${inspect(value)}: ` +
    `${error.message}\nIt can reach a log. Say what is wrong without the value.`
}

/**
 * The store, with the rules that hold for every method checked at every call: it changes nothing that it is given and
 * keeps no part of it, what it returns are plain values of the caller's own, it rejects with errors of the interface,
 * and it throws nothing synchronously.
 */
export function watchedStorage (storage: Storage, watch: Watch): Storage {
  let calls = 0

  function breach (message: string, cause?: unknown): never {
    const error = new assert.AssertionError({ message })
    error.cause = cause
    watch.breach ??= error
    throw error
  }

  type Run = (...args: unknown[]) => unknown

  /**
   * A function that the store calls back, for a copy of what it gives. `thrown` gets the errors of the function, and
   * `answers` what the store got from it.
   */
  function watchedCallback (
    method: string, callback: (...given: unknown[]) => unknown, thrown: Set<unknown>, answers: unknown[]
  ): Run {
    const note = (error: unknown): never => {
      thrown.add(error)
      throw error
    }
    return (...given) => {
      const odd = oddPart(given, `what ${method} gives`, new Set())
      if (odd !== null) breach(`${odd}: give plain values of JSON`)
      const copies = structuredClone(given)
      changeAll(given)
      try {
        const answer = callback(...copies)
        if (answer instanceof Promise) return answer.catch(note)
        const copy: unknown = structuredClone(answer)
        answers.push(copy)
        return copy
      } catch (error) {
        return note(error)
      }
    }
  }

  async function call (method: string, run: Run, given: readonly unknown[]): Promise<unknown> {
    const thrown = new Set<unknown>()
    const answers: unknown[] = []
    const args = given.map((arg) => copyOf(arg, (callback) =>
      watchedCallback(method, (...values) => Reflect.apply(callback, undefined, values), thrown, answers)))
    const before = args.map((arg) => copyOf(arg, (callback) => callback))
    // In turn: what is frozen shows a store that changes it, what is changed afterwards one that keeps it.
    const isFrozen = calls++ % 2 === 0
    if (isFrozen) freeze(args)
    watch.pending.set(method, (watch.pending.get(method) ?? 0) + 1)
    try {
      let promise: unknown
      try {
        promise = run(...args)
      } catch (error) {
        breach(`${method} threw synchronously: it must return a promise that is rejected`, error)
      }
      if (!(promise instanceof Promise) && typeof Object(promise).then !== 'function') {
        breach(`${method} returned ${inspect(promise)}: it must return a promise`)
      }
      let result: unknown
      try {
        result = await promise
      } catch (error) {
        if (thrown.has(error)) throw error
        const fault = faultOf(error, method, given)
        if (fault !== null) breach(fault, error)
        throw error
      }
      if (!isDeepStrictEqual(args, before)) {
        breach(`${method} changed what it was given: copy it first`)
      }
      if (VOID.includes(method) && result !== undefined) {
        breach(`${method} resolved to ${inspect(result)}: it must give nothing`)
      }
      if (result === undefined) return result
      const odd = oddPart(result, `the result of ${method}`, new Set(objectsIn(args)))
      if (odd !== null) breach(`${odd}: return plain values of JSON`)
      // What is returned is the caller's, and so is what was given: neither may reach into the store.
      const copy: unknown = structuredClone(result)
      changeAll(result)
      return copy
    } finally {
      if (!isFrozen) changeAll(args)
      changeAll(answers)
      watch.pending.set(method, (watch.pending.get(method) ?? 1) - 1)
    }
  }

  const names: readonly string[] = [...METHODS, 'joinTransaction']

  /** A part of the store, watched in the same way. `lacking`: what it is called if a method is not written. */
  function watchedPart (part: object, name: string, methods: readonly string[], lacking: (method: string) => string) {
    const watched = (method: string) => (...args: unknown[]) => {
      const run: unknown = Reflect.get(part, method)
      if (typeof run === 'function') {
        return call(`${name}.${method}`, (...copies) => Reflect.apply(run, part, copies), args)
      }
      watch.missing.add(lacking(method))
      return Promise.reject(new NotWritten(lacking(method)))
    }
    return Object.fromEntries(methods.map((method) => [method, watched(method)]))
  }

  return new Proxy(storage, {
    get (target, name) {
      const member: unknown = Reflect.get(target, name, target)
      const { eventLog, trash, webhooks, keyUses } = target
      if (name === 'eventLog') return eventLog && watchedPart(eventLog, name, EVENT_LOG_METHODS, () => name)
      if (name === 'trash') return trash && watchedPart(trash, name, TRASH_METHODS, (method) => `${name}.${method}`)
      if (name === 'webhooks') {
        return webhooks && watchedPart(webhooks, name, WEBHOOK_METHODS, (method) => `${name}.${method}`)
      }
      if (name === 'keyUses') {
        return keyUses && watchedPart(keyUses, name, KEY_USE_METHODS, (method) => `${name}.${method}`)
      }
      if (typeof name === 'symbol' || !names.includes(name)) return member
      if (typeof member !== 'function') {
        if (name === 'joinTransaction') return member
        watch.missing.add(name)
        return () => Promise.reject(new NotWritten(name))
      }
      const run = (...args: unknown[]): unknown => Reflect.apply(member, target, args)
      if (name === 'joinTransaction') {
        return (transaction: unknown) => {
          const inside: unknown = run(transaction)
          return isStorage(inside) ? watchedStorage(inside, watch) : inside
        }
      }
      return (...args: unknown[]) => call(name, run, args)
    }
  })
}

function isStorage (value: unknown): value is Storage {
  return typeof value === 'object' && value !== null && 'findUser' in value
}
