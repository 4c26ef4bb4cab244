import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { JsonObject, SchemaRequirements } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

/** A mistake in how names of fields are kept by the schema. */
function names (title: string, change: (name: string) => string): Mistake {
  return plant(title, class extends PlainStore {
    override async migrate ({ filterable = [] }: SchemaRequirements = {}) {
      await super.migrate({ filterable: filterable.map(change) })
    }
  })
}

/** A mistake in what a later call of migrate does to the users. */
function remakes (title: string, remake: (state: State) => void): Mistake {
  return plant(title, class extends PlainStore {
    override async migrate (requirements?: SchemaRequirements) {
      if (this.schema.migrated) await this.write('', () => null, remake)
      await super.migrate(requirements)
    }
  })
}

/** A mistake in how names are refused. */
function refuses (title: string, isRefused: (filterable: readonly string[]) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override async migrate (requirements: SchemaRequirements = {}) {
      if (isRefused(requirements.filterable ?? [])) throw new SyntaxError('syntax error in the statement')
      await super.migrate(requirements)
    }
  })
}

export const lifecycle: Mistake[] = [
  refuses('migrate throws for a field whose name is a word of SQL', (given) => given.includes('order')),
  refuses('migrate throws for a field whose name begins with an underscore', (given) => {
    return given.some((name) => name.startsWith('_'))
  }),
  refuses('migrate throws for a field whose name has 63 characters', (given) => given.some((name) => name.length > 50)),
  refuses('migrate throws for more than ten names', (given) => given.length > 10),
  refuses('migrate throws for a name that is given twice', (given) => new Set(given).size < given.length),
  names('migrate takes names of fields in lower case', (name) => name.toLowerCase()),
  names('migrate cuts names of fields to 40 characters', (name) => name.slice(0, 40)),
  plant('migrate throws the second time', class extends PlainStore {
    override async migrate (requirements?: SchemaRequirements) {
      if (this.schema.migrated) throw new Error('table users already exists')
      await super.migrate(requirements)
    }
  }),
  plant('migrate throws for a name that is required already', class extends PlainStore {
    override async migrate (requirements: SchemaRequirements = {}) {
      const { filterable = [] } = requirements
      if (filterable.some((name) => this.schema.required.has(name))) throw new Error('index already exists')
      await super.migrate(requirements)
    }
  }),
  plant('migrate does nothing the second time', class extends PlainStore {
    override async migrate (requirements?: SchemaRequirements) {
      if (!this.schema.migrated) await super.migrate(requirements)
    }
  }),
  remakes('migrate deletes all users', ({ users }) => users.clear()),
  remakes('migrate deletes revoked keys', ({ apiKeys }) => {
    for (const key of [...apiKeys.values()]) if (key.revokedAt !== null) apiKeys.delete(key.id)
  }),
  remakes('migrate deletes the idempotency keys', ({ idempotency }) => idempotency.clear()),
  remakes('migrate gives every user a new version', ({ users }) => {
    for (const { user } of users.values()) user.version++
  }),
  plant('migrate forgets what earlier calls required', class extends PlainStore {
    override async migrate (requirements: SchemaRequirements = {}) {
      if (requirements.filterable !== undefined) this.schema.required.clear()
      await super.migrate(requirements)
    }
  }),
  plant('migrate without requirements forgets the earlier ones', class extends PlainStore {
    override async migrate (requirements: SchemaRequirements = {}) {
      if (requirements.filterable === undefined) this.schema.required.clear()
      await super.migrate(requirements)
    }
  }),
  plant('migrate does not index users that exist', class extends PlainStore {
    unseen = new Map<string, Set<string>>()

    override async migrate (requirements: SchemaRequirements = {}) {
      const ids = await this.read((state) => [...state.users.keys()])
      for (const name of requirements.filterable ?? []) {
        if (!this.schema.required.has(name)) this.unseen.set(name, new Set(ids))
      }
      await super.migrate(requirements)
    }

    override matches (...[row, filter]: Parameters<PlainStore['matches']>) {
      const isUnseen = Object.keys(filter.fields).some((name) => this.unseen.get(name)?.has(row.user.id))
      return !isUnseen && super.matches(row, filter)
    }
  }),
  plant('migrate takes the values of existing users as text', class extends PlainStore {
    old = new Set<string>()

    override async migrate (requirements?: SchemaRequirements) {
      for (const id of await this.read((state) => [...state.users.keys()])) this.old.add(id)
      await super.migrate(requirements)
    }

    override matches (...[row, filter]: Parameters<PlainStore['matches']>) {
      if (!this.old.has(row.user.id)) return super.matches(row, filter)
      const values = Object.entries(row.user.fields).map(([name, value]) => [name, String(value)])
      const fields: JsonObject = Object.fromEntries(values)
      return super.matches({ ...row, user: { ...row.user, fields } }, filter)
    }
  }),
  plant('concurrent migrate calls fail', class extends PlainStore {
    isRunning = false

    override async migrate (requirements?: SchemaRequirements) {
      if (this.isRunning) throw new StorageError('fault', 'the table exists')
      this.isRunning = true
      await super.migrate(requirements)
      this.isRunning = false
    }
  }),
  plant('concurrent migrate calls lose a requirement', class extends PlainStore {
    override async migrate (requirements: SchemaRequirements = {}) {
      const before = [...this.schema.required]
      await super.migrate(requirements)
      this.schema.required.clear()
      for (const name of [...before, ...requirements.filterable ?? []]) this.schema.required.add(name)
    }
  }),
  plant('migrate resolves before the schema is made', class extends PlainStore {
    override async migrate (requirements?: SchemaRequirements) {
      this.turn().then(() => super.migrate(requirements)).catch(() => {})
    }
  }),
  plant('check looks at the first name only', class extends PlainStore {
    override async check ({ filterable = [] }: SchemaRequirements = {}) {
      await super.check({ filterable: filterable.slice(0, 1) })
    }
  }),
  plant('check refuses less than what is there', class extends PlainStore {
    override async check (requirements: SchemaRequirements = {}) {
      await super.check(requirements)
      if ((requirements.filterable ?? []).length < this.schema.required.size) throw this.behind()
    }

    behind () {
      return new StorageError('schema_behind', 'the schema has other names')
    }
  }),
  plant('check refuses another order of names', class extends PlainStore {
    override async check (requirements: SchemaRequirements = {}) {
      await super.check(requirements)
      const { filterable = [] } = requirements
      const inOrder = [...this.schema.required].filter((name) => filterable.includes(name))
      if (inOrder.join() !== filterable.join()) throw new StorageError('schema_behind', 'the schema has other names')
    }
  }),
  plant('check throws an error of the driver without a schema', class extends PlainStore {
    override async check (requirements?: SchemaRequirements) {
      if (!this.schema.migrated) throw new Error('no such table: users')
      await super.check(requirements)
    }
  }),
  plant('check says unavailable without a schema', class extends PlainStore {
    override async check (requirements?: SchemaRequirements) {
      await super.check(requirements).catch(() => { throw new StorageError('unavailable', 'the store did not answer') })
    }
  }),
  plant('check says schema_newer without a schema', class extends PlainStore {
    override async check (requirements?: SchemaRequirements) {
      await super.check(requirements).catch(() => { throw new StorageError('schema_newer', 'the schema is another') })
    }
  }),
  plant('check resolves to false instead of throwing', class extends PlainStore {
    override async check (requirements?: SchemaRequirements) {
      return await super.check(requirements).catch(() => untyped(false))
    }
  }),
  plant('migrate writes back users that have changed meanwhile', class extends PlainStore {
    override async migrate (requirements?: SchemaRequirements) {
      const before = [...this.database.state.users].map(([id, row]) => [id, structuredClone(row)] as const)
      await super.migrate(requirements)
      for (let turns = 0; turns < 3; turns++) await this.turn()
      for (const [id, row] of before) if (this.database.state.users.has(id)) this.database.state.users.set(id, row)
    }
  })
]
