import { getSystemErrorMap } from 'node:util'
import { UsersError } from '../lib/core/errors.ts'
import type { Fault } from '../lib/core/fault.ts'
import { StorageError } from '../lib/storage/storage-error.ts'
import { optionOf } from './option-names.ts'

/** Exit codes, for scripts. */
export const EXIT = Object.freeze({ ok: 0, failed: 1, usage: 2, unavailable: 3 })

/** The command line is wrong. The message says what is right and repeats no value. */
export class UsageError extends Error {}

/** A command found a problem, or refuses. The message is the whole answer. */
export class Refusal extends Error {}

/** A fault in a line. */
export function lineOf ({ pointer, parameter, detail }: Fault): string {
  return `${pointer?.slice(1) ?? parameter ?? ''} ${detail}`.trim()
}

interface Failure { message: string, exitCode: number }

function ofStorage ({ code, driverCode, message }: StorageError): Failure {
  if (code === 'schema_behind') {
    return { message: 'the tables are behind this code: run fastify-users migrate', exitCode: EXIT.failed }
  }
  const why = driverCode === undefined || message.includes(driverCode) ? '' : ` (${driverCode})`
  return { message: message + why, exitCode: code === 'unavailable' ? EXIT.unavailable : EXIT.failed }
}

/** What the operating system refuses, such as a file on a full disk, without its path; null: it is another error. */
function ofSystem (error: unknown): Failure | null {
  const { syscall, errno } = Object(error)
  const [code, text] = getSystemErrorMap().get(errno) ?? []
  return code === undefined ? null : { message: `${syscall} failed: ${text} (${code})`, exitCode: EXIT.failed }
}

/** What this package says to operators, such as of a wrong option or a missing package; null: it is another error. */
function ofPackage (error: unknown): Failure | null {
  if (!(error instanceof Error) || !error.message.startsWith('fastify-users: ')) return null
  const message = error.message.replace(/(?<=^- )(?:tablePrefix|schema)(?= )/gm, optionOf)
  return { message, exitCode: error instanceof TypeError ? EXIT.usage : EXIT.failed }
}

/**
 * The message on standard error, and the exit code. Of a driver's error only the code is shown: its message can hold
 * addresses and SQL.
 */
export function failureOf (error: unknown): Failure {
  if (error instanceof UsageError) return { message: error.message, exitCode: EXIT.usage }
  if (error instanceof Refusal) return { message: error.message, exitCode: EXIT.failed }
  if (error instanceof StorageError) return ofStorage(error)
  if (error instanceof UsersError) {
    const { cause, statusCode, errors = [], message } = error
    if (cause instanceof StorageError) return ofStorage(cause)
    if (errors.length > 0) {
      return { message: errors.map(lineOf).join('\n'), exitCode: statusCode === 400 ? EXIT.usage : EXIT.failed }
    }
    return ofPackage(cause) ?? ofSystem(cause) ?? { message, exitCode: EXIT.failed }
  }
  return ofPackage(error) ?? ofSystem(error) ?? { message: 'an unexpected error occurred', exitCode: EXIT.failed }
}
