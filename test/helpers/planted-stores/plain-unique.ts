import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { JsonObject, SchemaRequirements } from '../../../lib/storage/storage.ts'
import { PlainBase } from './plain-base.ts'
import type { State } from './state.ts'

/** Ids, addresses, and fields whose value at most one user has. */
export class PlainUnique extends PlainBase {
  override async migrate (requirements: SchemaRequirements = {}): Promise<void> {
    await super.migrate(requirements)
    for (const name of requirements.unique ?? []) {
      if (!this.schema.unique.has(name)) this.requireUnique(name)
      this.schema.unique.add(name)
    }
    const { searchable } = requirements
    if (searchable === undefined) return
    for (const row of this.session.state.users.values()) {
      row.keys = { ...row.keys, fieldWords: searchable.wordsOf(row.user.fields) }
    }
  }

  /** Refuses a field that users have the same value of. */
  requireUnique (name: string): void {
    const { state } = this.session
    for (const { user } of state.users.values()) this.requireFreeField(state, name, user.fields, user.id)
  }

  requireFreeFields (state: State, fields: JsonObject, id: string): void {
    for (const name of this.schema.unique) this.requireFreeField(state, name, fields, id)
  }

  requireFreeField (state: State, name: string, fields: JsonObject, id: string): void {
    const value = this.uniqueValue(fields, name)
    if (value === null) return
    for (const { user } of state.users.values()) {
      if (user.id !== id && this.uniqueValue(user.fields, name) === value) throw this.fieldTaken(name)
    }
  }

  /** What two users can't both have; null: nothing. */
  uniqueValue (fields: JsonObject, name: string): string | null {
    const value = Object.hasOwn(fields, name) ? fields[name] : null
    return typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : null
  }

  fieldTaken (field: string): Error {
    return new StorageError('field_taken', 'another user has the value of a unique field', { field })
  }

  requireFreeId (state: State, id: string): void {
    if (state.users.has(id)) throw new StorageError('fault', 'another user has the id')
  }

  requireFreeEmail (state: State, emailKey: string, id: string): void {
    for (const row of state.users.values()) {
      if (row.user.id !== id && this.sameEmailKey(row.keys.emailKey, emailKey)) throw this.emailTaken(emailKey)
    }
  }

  sameEmailKey (a: string, b: string): boolean {
    return a === b
  }

  emailTaken (_emailKey: string): Error {
    return new StorageError('email_taken', 'another user has the e-mail address')
  }
}
