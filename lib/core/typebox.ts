/**
 * All of TypeBox that runs here. The build bundles it into one file (scripts/bundle.mjs): loaded as the 260 modules
 * that are published, it takes three quarters of this package's import time.
 */
export { Type } from '@sinclair/typebox'
export { TypeCompiler, ValueErrorType } from '@sinclair/typebox/compiler'
export { Check } from '@sinclair/typebox/value'
