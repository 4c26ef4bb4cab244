import { type Fault, isObject, type Json, type JsonObject, type Schema } from '../api/types.ts'
import { allowsNull, kindOf, type ObjectKind, type SingleKind } from './kinds.ts'
import { memberOf } from './merge-patch.ts'
import { kindFor, parsedJson, textOf, valueOfText } from './single.ts'

// A draft is what a person has typed: texts, also where a number or JSON is wanted, so that nothing typed is lost
// because it is not right yet.

export type Draft = Single | Group

interface Common {
  isRequired: boolean
  isNullable: boolean
}

/** A value with one control. */
export interface Single extends Common {
  kind: SingleKind
  /** null: the value is null. Kinds that have null among their texts never have it here. */
  text: string | null
}

/** An object with a control for each member. */
export interface Group extends Common {
  kind: ObjectKind
  isNull: boolean
  members: Readonly<Record<string, Draft>>
}

export function isGroup (draft: Draft): draft is Group {
  return draft.kind.is === 'object'
}

/** Kinds that are chosen or typed as JSON, with null as one of their values. */
function hasNullText ({ is }: SingleKind): boolean {
  return is === 'choice' || is === 'flag' || is === 'json'
}

function singleOf (given: SingleKind, value: Json | undefined, common: Common): Single {
  const { isNullable } = common
  const withNull = isNullable && given.is === 'choice' && !given.choices.includes(null)
  const own: SingleKind = withNull ? { ...given, choices: [...given.choices, null] } : given
  if (value === null && isNullable) return { ...common, kind: own, text: hasNullText(own) ? 'null' : null }
  const kind = kindFor(own, value)
  return { ...common, kind, text: textOf(kind, value) }
}

function canShow ({ properties }: ObjectKind, value: Json | undefined, isNullable: boolean): boolean {
  if (value === undefined || (value === null && isNullable)) return true
  return isObject(value) && Object.keys(value).every((name) => Object.hasOwn(properties, name))
}

/** The draft of a value. `isRequired`: it must be there. */
export function draftOf (schema: Schema, value: Json | undefined, isRequired: boolean): Draft {
  const kind = kindOf(schema)
  const common = { isRequired, isNullable: allowsNull(schema) }
  if (kind.is !== 'object') return singleOf(kind, value, common)
  if (!canShow(kind, value, common.isNullable)) return singleOf({ is: 'json' }, value, common)
  return groupOf(kind, common, value === null, (inner, name, isInnerRequired) =>
    draftOf(inner, memberOf(value, name), isInnerRequired))
}

function groupOf (
  kind: ObjectKind,
  common: Common,
  isNull: boolean,
  draft: (schema: Schema, name: string, isRequired: boolean) => Draft
): Group {
  const members = Object.entries(kind.properties).map(([name, inner]) =>
    [name, draft(inner, name, common.isRequired && kind.required.includes(name))] as const)
  return { ...common, kind, isNull, members: Object.fromEntries(members) }
}

/** The draft of a new value: with the defaults of the schema. */
export function newDraft (schema: Schema, isRequired: boolean): Draft {
  const kind = kindOf(schema)
  const usual = schema['default']
  const common = { isRequired, isNullable: allowsNull(schema) }
  if (usual !== undefined) return draftOf(schema, JSON.parse(JSON.stringify(usual)), isRequired)
  if (isRequired && common.isNullable) return draftOf(schema, null, isRequired)
  if (kind.is === 'flag' && isRequired) return draftOf(schema, false, isRequired)
  return kind.is === 'object'
    ? groupOf(kind, common, false, (inner, _name, isInnerRequired) => newDraft(inner, isInnerRequired))
    : singleOf(kind, undefined, common)
}

/** True if an empty control of a value that must be there can mean null alone. */
function isEmptyNull ({ kind, isRequired, isNullable }: Single): boolean {
  return isRequired && isNullable && kind.is !== 'text' && kind.is !== 'lines'
}

function singleValue (draft: Single): Json | undefined {
  const { kind, text, isRequired } = draft
  if (text === null) return null
  const value = valueOfText(kind, text, isRequired)
  return value === undefined && isEmptyNull(draft) ? null : value
}

/** True if the value of a draft is null. */
export function isDraftNull (draft: Draft): boolean {
  return isGroup(draft) ? draft.isNull : singleValue(draft) === null
}

export function isSameDraft (a: Draft | undefined, b: Draft | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function memberDraft (draft: Draft | undefined, name: string): Draft | undefined {
  return draft !== undefined && isGroup(draft) && Object.hasOwn(draft.members, name) ? draft.members[name] : undefined
}

/** How many members of a form are not as they were at first. */
export function changedMembers (begun: Draft, draft: Draft): number {
  if (!isGroup(draft)) return 0
  return Object.entries(draft.members).filter(([name, member]) => !isSameDraft(memberDraft(begun, name), member)).length
}

/**
 * The members of a group that have a value, with their drafts as they were at first; undefined if an object that need
 * not be there has none.
 */
function membersOf (
  { members, isRequired }: Group,
  begun: Draft | undefined,
  before: JsonObject,
  valueOf: (begun: Draft | undefined, member: Draft, name: string) => Json | undefined
): JsonObject | undefined {
  const value = { ...before }
  for (const [name, member] of Object.entries(members)) {
    const own = valueOf(memberDraft(begun, name), member, name)
    if (own === undefined) delete value[name]
    else value[name] = own
  }
  return Object.keys(value).length === 0 && !isRequired ? undefined : value
}

/**
 * The value of a new draft; undefined: not set. An object that need not be there, and in which nothing was typed, is
 * not set, whatever defaults its members have.
 */
export function createdValue (begun: Draft | undefined, draft: Draft): Json | undefined {
  if (!isGroup(draft)) return singleValue(draft)
  if (!draft.isRequired && isSameDraft(begun, draft)) return undefined
  return draft.isNull ? null : membersOf(draft, begun, {}, createdValue)
}

/** The stored value as it was changed by hand; undefined: not set. What was left alone is as it is stored. */
export function editedValue (begun: Draft | undefined, draft: Draft, stored: Json | undefined): Json | undefined {
  if (isSameDraft(begun, draft)) return stored
  if (!isGroup(draft)) return singleValue(draft)
  if (draft.isNull) return null
  const before = begun !== undefined && isGroup(begun) && isObject(stored) ? stored : {}
  return membersOf(draft, begun, before, (begun, member, name) => editedValue(begun, member, memberOf(stored, name)))
}

/** `fresh` with what was typed after `sent`. */
export function rebased (sent: Draft | undefined, now: Draft, fresh: Draft | undefined): Draft {
  if (fresh !== undefined && isSameDraft(sent, now)) return fresh
  if (sent === undefined || fresh === undefined || !isGroup(sent) || !isGroup(now) || !isGroup(fresh)) return now
  const members = Object.entries(now.members).map(([name, member]) =>
    [name, rebased(memberDraft(sent, name), member, memberDraft(fresh, name))] as const)
  const isNull = sent.isNull === now.isNull ? fresh.isNull : now.isNull
  return { ...fresh, isNull, members: Object.fromEntries(members) }
}

/** JSON Pointer (RFC 6901) of a member. */
export function pointerOf (path: string, name: string): string {
  return `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** What can't be sent: JSON that is none. `detail` is the sentence for it. */
export function draftFaults (draft: Draft, detail: string, path = ''): Fault[] {
  if (isGroup(draft)) {
    return Object.entries(draft.members)
      .flatMap(([name, member]) => draftFaults(member, detail, pointerOf(path, name)))
  }
  const { kind, text } = draft
  const isWrong = kind.is === 'json' && text !== null && text.trim() !== '' && parsedJson(text) === undefined
  return isWrong ? [{ pointer: path, code: 'not_json', detail }] : []
}
