/**
 * All of TypeBox that runs here. The build puts it into one file (scripts/bundle.mjs): as the 260 modules that it is published as, it is three quarters of
 * the time that the import of this package takes.
 */
export { Type } from '@sinclair/typebox'
export { TypeCompiler, ValueErrorType } from '@sinclair/typebox/compiler'
export { Check } from '@sinclair/typebox/value'
