import { StorageError } from '../../../lib/storage/storage-error.ts'

/** `flags`: of the command line, which does the same. */
export function schemaBehind (problem: string, call: string, flags = ''): StorageError {
  const command = flags === '' ? '' : `run npx fastify-users migrate ${flags}, `
  return new StorageError('schema_behind', `${problem}: ${command}call storage.${call}, or register with migrate: true`)
}

/** Why a field can't be unique. */
export function sameValues (field: string): StorageError {
  const message = `several users have the same value in the field ${field}, so it can't be unique: give each of them ` +
    'a different one'
  return new StorageError('field_taken', message, { field })
}
