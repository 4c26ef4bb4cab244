import { StorageError, UsersError } from '../lib/errors.ts'

/** Exit codes, for scripts. */
export const EXIT = Object.freeze({ ok: 0, failed: 1, usage: 2, unavailable: 3 })

/** The command was given wrongly; the message says what is right and repeats no value. */
export class UsageError extends Error {}

/** What a command found, or was asked for, is not right; the message is the whole answer. */
export class Refusal extends Error {}

const lineOf = ({ pointer, parameter, detail }: { pointer?: string, parameter?: string, detail: string }): string => `${pointer?.slice(1) ?? parameter ?? ''} ${detail}`.trim()

/** What is said of an error on standard error, and the exit code. Messages of drivers hold addresses and SQL: of those the code alone is said. */
export function failureOf (error: unknown): { message: string, exitCode: number } {
  if (error instanceof UsageError) return { message: error.message, exitCode: EXIT.usage }
  if (error instanceof Refusal) return { message: error.message, exitCode: EXIT.failed }
  if (error instanceof UsersError) {
    if (error.cause instanceof StorageError) return failureOf(error.cause)
    const { errors = [] } = error
    return errors.length > 0
      ? { message: errors.map(lineOf).join('\n'), exitCode: EXIT.usage }
      : { message: error.message, exitCode: EXIT.failed }
  }
  if (error instanceof StorageError) {
    const why = error.driverCode === undefined ? '' : ` (${error.driverCode})`
    if (error.code === 'schema_behind') return { message: 'the tables are behind this code: run fastify-users migrate', exitCode: EXIT.failed }
    if (error.code === 'unavailable') return { message: `the database can not be reached, or is busy${why}`, exitCode: EXIT.unavailable }
    return { message: `${error.message}${why}`, exitCode: EXIT.failed }
  }
  // A wrong option, or a package that is missing: these messages are our own.
  if (error instanceof Error && error.message.startsWith('fastify-users: ')) return { message: error.message, exitCode: error instanceof TypeError ? EXIT.usage : EXIT.failed }
  return { message: 'an unexpected error occurred', exitCode: EXIT.failed }
}
