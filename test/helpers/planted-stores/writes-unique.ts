import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { JsonObject, SchemaRequirements, UserChanges, VersionGuard } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

/** A mistake in what counts as the value of a unique field; `really` is the right answer. */
function values (title: string, change: (really: string | null, value: unknown) => string | null): Mistake {
  return plant(title, class extends PlainStore {
    override uniqueValue (fields: JsonObject, name: string) {
      return change(super.uniqueValue(fields, name), fields[name])
    }
  })
}

/** A mistake in the error of a value that is taken. */
function refusals (title: string, error: (field: string) => Error): Mistake {
  return plant(title, class extends PlainStore {
    override fieldTaken (field: string) {
      return error(field)
    }
  })
}

export const writesUnique: Mistake[] = [
  values('unique fields are not kept unique', () => null),
  values('null counts as a value of a unique field', (really, value) => value === null ? 'null' : really),
  values('an absent unique field counts as a value', (really, value) => value === undefined ? '' : really),
  values('a number and its text are the same unique value', (really) => really?.replaceAll('"', '') ?? null),
  values('unique values are compared without case', (really) => really?.toLowerCase() ?? null),
  values('unique values are compared without spaces around them', (really) => really?.replace(/ "$/, '"') ?? null),
  values('unique values are compared in compatibility form', (really) => really?.normalize('NFKC') ?? null),
  values('unique values are compared in composed form', (really) => really?.normalize('NFC') ?? null),
  values('unique values are compared in decomposed form', (really) => really?.normalize('NFD') ?? null),
  values('unique values are compared by their first 200 characters', (really) => really?.slice(0, 200) ?? null),
  values('unique numbers are compared as whole numbers', (really, value) =>
    typeof value === 'number' ? String(Math.trunc(value)) : really),
  values('unique values that are empty are not compared', (really, value) => value === '' ? null : really),
  refusals('a taken field is refused as email_taken', () => new StorageError('email_taken', 'taken')),
  refusals('a taken field is a fault', () => new StorageError('fault', 'taken')),
  refusals('field_taken does not name the field', () => new StorageError('field_taken', 'taken')),
  refusals('field_taken names the index', (field) => new StorageError('field_taken', 'taken', { field: `u_${field}` })),
  plant('all unique fields share their values', class extends PlainStore {
    override requireFreeField (state: State, name: string, fields: JsonObject, id: string) {
      const value = this.uniqueValue(fields, name)
      for (const { user } of value === null ? [] : state.users.values()) {
        const values = [...this.schema.unique].map((each) => this.uniqueValue(user.fields, each))
        if (user.id !== id && values.includes(value)) throw this.fieldTaken(name)
      }
    }
  }),
  plant('a user can not have one value in two unique fields', class extends PlainStore {
    override requireFreeFields (state: State, fields: JsonObject, id: string) {
      super.requireFreeFields(state, fields, id)
      const values = [...this.schema.unique].flatMap((name) => this.uniqueValue(fields, name) ?? [])
      const [first] = this.schema.unique
      if (first !== undefined && new Set(values).size < values.length) throw this.fieldTaken(first)
    }
  }),
  plant('only one field can be unique', class extends PlainStore {
    override requireFreeFields (state: State, fields: JsonObject, id: string) {
      const [first] = this.schema.unique
      if (first !== undefined) this.requireFreeField(state, first, fields, id)
    }
  }),
  plant('updateUser does not keep unique fields unique', class extends PlainStore {
    override checkUpdate (state: State, id: string, changes: UserChanges, guard: VersionGuard) {
      const { fields, ...others } = changes
      return super.checkUpdate(state, id, others, guard)
    }
  }),
  plant('a unique field can not keep its value', class extends PlainStore {
    override checkUpdate (state: State, id: string, changes: UserChanges, guard: VersionGuard) {
      if (changes.fields !== undefined) this.requireFreeFields(state, changes.fields, '')
      return super.checkUpdate(state, id, changes, guard)
    }
  }),
  plant('a unique value stays taken after an update', class extends PlainStore {
    readonly #given = new Map<string, string>()
    override requireFreeFields (state: State, fields: JsonObject, id: string) {
      super.requireFreeFields(state, fields, id)
      for (const name of this.schema.unique) {
        const value = `${name} ${this.uniqueValue(fields, name)}`
        const holder = this.#given.get(value)
        if (holder !== undefined && holder !== id && state.users.has(holder)) throw this.fieldTaken(name)
        if (this.uniqueValue(fields, name) !== null) this.#given.set(value, id)
      }
    }
  }),
  plant('createUser checks unique fields before it writes', class extends PlainStore {
    override async createUser (...args: Parameters<PlainStore['createUser']>) {
      const [user] = args
      this.requireFreeFields(this.session.state, user.fields, user.id)
      await this.turn()
      const unique = new Set(this.schema.unique)
      this.schema.unique.clear()
      const created = super.createUser(...args)
      for (const name of unique) this.schema.unique.add(name)
      return created
    }

    override checkCreation (...args: Parameters<PlainStore['checkCreation']>) {
      const unique = [...this.schema.unique]
      this.schema.unique.clear()
      try {
        return super.checkCreation(...args)
      } finally {
        for (const name of unique) this.schema.unique.add(name)
      }
    }
  }),
  plant('updateUser checks unique fields before it writes', class extends PlainStore {
    override async updateUser (...args: Parameters<PlainStore['updateUser']>) {
      const [id, { fields }] = args
      if (fields !== undefined) this.requireFreeFields(this.session.state, fields, id)
      await this.turn()
      return super.updateUser(...args)
    }

    override checkUpdate (state: State, id: string, { fields, ...changes }: UserChanges, guard: VersionGuard) {
      return super.checkUpdate(state, id, changes, guard)
    }
  }),
  plant('migrate accepts a unique field of which users have the same value', class extends PlainStore {
    override requireUnique () {}
  }),
  plant('a unique field that migrate refused is required from then on', class extends PlainStore {
    override async migrate (requirements: SchemaRequirements = {}) {
      for (const name of requirements.unique ?? []) this.schema.unique.add(name)
      await super.migrate(requirements)
    }
  }),
  plant('check does not look at unique fields', class extends PlainStore {
    override async check ({ filterable = [] }: SchemaRequirements = {}) {
      await super.check({ filterable })
    }
  }),
  plant('a field that is filterable can not become unique', class extends PlainStore {
    override async migrate ({ filterable = [], unique = [] }: SchemaRequirements = {}) {
      await super.migrate({ filterable, unique: unique.filter((name) => !this.schema.required.has(name)) })
    }
  }),
  plant('a later call of migrate ends what an earlier one kept unique', class extends PlainStore {
    override async migrate (requirements: SchemaRequirements = {}) {
      this.schema.unique.clear()
      await super.migrate(requirements)
    }
  }),
  plant('a refused creation keeps its idempotency key when a field is taken', class extends PlainStore {
    override checkCreation (...args: Parameters<PlainStore['checkCreation']>) {
      const [state, row, idempotency] = args
      try {
        return super.checkCreation(...args)
      } catch (error) {
        const isTaken = error instanceof StorageError && error.code === 'field_taken'
        if (isTaken && idempotency !== null) this.putIdempotency(state, row, idempotency)
        throw error
      }
    }
  })
]
