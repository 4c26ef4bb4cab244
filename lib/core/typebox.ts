/**
 * The parts of TypeBox that this package uses. The build bundles them into one file (scripts/bundle.mjs): loaded as
 * the 260 published modules, TypeBox takes three quarters of this package's import time.
 */
export { Type } from '@sinclair/typebox'
export { TypeCompiler, ValueErrorType } from '@sinclair/typebox/compiler'
export { Check } from '@sinclair/typebox/value'
