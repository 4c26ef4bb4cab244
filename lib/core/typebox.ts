import * as typebox from '@sinclair/typebox'

/**
 * The parts of TypeBox that this package uses. The build bundles them into one file (scripts/bundle.mjs): loaded as
 * the 260 published modules, TypeBox takes three quarters of this package's import time. `Type` names what is used of
 * it: with all of it, and the compiler of checks, that file is 200 instead of 84 KB, and a check that is not compiled
 * takes 0.2 µs more.
 */
export const Type = {
  Array: typebox.Array,
  Boolean: typebox.Boolean,
  Date: typebox.Date,
  Function: typebox.Function,
  Integer: typebox.Integer,
  Literal: typebox.Literal,
  Null: typebox.Null,
  Number: typebox.Number,
  Object: typebox.Object,
  Optional: typebox.Optional,
  Partial: typebox.Partial,
  Record: typebox.Record,
  String: typebox.String,
  Undefined: typebox.Undefined,
  Union: typebox.Union,
  Unknown: typebox.Unknown
}
export { Errors, ValueErrorType } from '@sinclair/typebox/errors'
export { Check } from '@sinclair/typebox/value'
