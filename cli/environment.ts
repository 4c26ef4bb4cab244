import { readFileSync } from 'node:fs'
import { UsageError } from './failure.ts'

function contentOf (path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new UsageError(`${variable} must be the path of a file that can be read`)
  }
}

/**
 * A secret of the environment: the variable, or the file that `<name>_FILE` names, as container platforms mount them;
 * undefined if neither is set. @throws UsageError
 */
export function secretOf (name: string): string | undefined {
  const path = process.env[`${name}_FILE`]
  if (path === undefined || path === '') return process.env[name]
  if (process.env[name] !== undefined) throw new UsageError(`${name} and ${name}_FILE cannot both be set`)
  const text = contentOf(path, `${name}_FILE`)
  // Without the pepper that is missing in it, keys would be made that the server refuses.
  if (text === '') throw new UsageError(`${name}_FILE must be the path of a file that is not empty`)
  return text
}

/** The variable that gives a secret: for messages. */
export function variableOf (name: string): string {
  const file = `${name}_FILE`
  return (process.env[file] ?? '') === '' ? name : file
}
