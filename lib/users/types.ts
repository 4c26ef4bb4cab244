import type { Actor, UserMembers, UserRecord } from '../storage/storage.ts'

/**
 * The types of the host's own fields, for `app.users`. Empty until the host declares them, once, by the schema of the
 * option `fields`: `declare module 'fastify-users' { interface UserFields extends Static<typeof fields> {} }`, or
 * `declare module 'fastify-users/plugin'` if that is what it imports.
 */
export interface UserFields {}

/**
 * The types of the host's own fields in creations and changes, where they are not those of a user: a field with a
 * default may be absent there. Declared beside `UserFields`, such as `interface UserFieldsInput extends z.input<typeof
 * fields> {}`. Empty: they are the same.
 */
export interface UserFieldsInput {}

/** The fields as they are given. Those of another mount, with types of its own, are the same as they are read. */
type Given<Fields> = [Fields, UserFields] extends [UserFields, Fields]
  ? keyof UserFieldsInput extends never ? Fields : UserFieldsInput
  : Fields

/** A user. Its `version` is the ETag without quotes. */
export type User<Fields = UserFields> = Omit<UserRecord, 'fields'> & Readonly<Fields>

/** A deleted user that can be restored. */
export type DeletedUser<Fields = UserFields> = User<Fields> & {
  /** RFC 3339 in UTC with milliseconds. */
  deletedAt: string
  /** Who has deleted it, by the name that it had then; null: the host, in process. */
  deletedBy: Actor | null
}

/** A new user: active, unless something else is given. */
export type UserInput<Fields = UserFields> = { name: string, email: string } & Partial<UserMembers> & Given<Fields>

type Optional<Fields> = {
  [Name in keyof Fields]-?: undefined extends Fields[Name] ? Name : never
}[keyof Fields]
type Patched<Value> = Value extends readonly unknown[] ? Value : Value extends object ? MergePatch<Value> : Value

/** A JSON Merge Patch (RFC 7396): given members change, in nested objects too, and `null` removes an optional one. */
export type MergePatch<Fields> = {
  [Name in keyof Fields]?: Patched<Exclude<Fields[Name], undefined>> |
    (string extends Name ? null : Name extends Optional<Fields> ? null : never)
}

/** Members of a user that no client changes. They may be sent back as they are stored. */
type Unchanged = Partial<Pick<UserRecord, 'id' | 'version' | 'createdAt' | 'updatedAt' | 'tenant'>>

/** A change of a user. */
export type UserPatch<Fields = UserFields> =
  Unchanged & { name?: string, email?: string } & Partial<UserMembers> & MergePatch<Given<Fields>>

/** The fields that lists can be filtered by, if the option `fields.filterable` names them. */
export type FieldFilter<Fields = UserFields> = {
  [Name in keyof Fields as Exclude<Fields[Name], undefined | null> extends string | number | boolean ? Name : never]?:
  Exclude<Fields[Name], null>
}

/** Bounds of a member, exclusive or not. */
export type Bounds<Name extends string, Value> = { [Key in `${Name}[${'gte' | 'gt' | 'lte' | 'lt'}]`]?: Value }

/** Conditions on the fields that lists can be filtered by. */
export type FieldConditions<Fields = UserFields> = FieldsAmong<FieldFilter<Fields>> &
  { [Name in keyof FieldFilter<Fields> & string as `${Name}[exists]`]?: boolean } &
  { [Name in keyof FieldFilter<Fields> & string as `${Name}[${'gte' | 'gt' | 'lte' | 'lt'}]`]?: string | number }

type FieldsAmong<Filter> = {
  [Name in keyof Filter & string as `${Name}[in]`]?: ReadonlyArray<Exclude<Filter[Name], undefined>>
}
