import { inspect } from 'node:util'

// What is done with the values that go into a store and come out of it.

/** A copy of a value in every part. Functions in it are replaced. */
export function copyOf (value: unknown, replace: (callback: Function) => unknown): unknown {
  if (typeof value === 'function') return replace(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => copyOf(each, replace))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member, replace)]))
}

/** Freezes a value in every part. */
export function freeze (value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) freeze(member)
}

/** Changes every part of a value that can be changed. */
export function changeAll (value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'function') continue
    if (typeof member === 'object') changeAll(member)
    else Reflect.set(value, name, typeof member === 'number' ? member + 1 : `${String(member)} changed by the caller`)
  }
  if (Array.isArray(value)) value.push('added by the caller')
  else Reflect.set(value, 'addedByTheCaller', true)
}

/** Where a value has something else than plain objects, lists, texts, numbers, booleans and null; null if nowhere. */
export function oddPart (value: unknown, path: string, given: ReadonlySet<object>): string | null {
  if (value === null || ['string', 'boolean', 'number'].includes(typeof value)) return null
  if (typeof value !== 'object') return `${path} is ${inspect(value)}`
  // What was given, and frozen for this check, may be returned.
  if (Object.isFrozen(value) && !given.has(value)) return `${path} is frozen, but the caller may change it`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) {
    const { name = 'nothing' }: { name?: string } = Object(Object(prototype).constructor)
    return `${path} is an object of ${name}, no plain one`
  }
  for (const [name, member] of Object.entries(value)) {
    const odd = oddPart(member, `${path}.${name}`, given)
    if (odd !== null) return odd
  }
  return null
}

/** Every object and list in a value, itself included. */
export function objectsIn (value: unknown): object[] {
  return typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(objectsIn)] : []
}

/** The longer texts among the values of a call. */
export function textsIn (value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 6 ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
