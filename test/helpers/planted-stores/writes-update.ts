import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Json, JsonObject, UserChanges, UserRecord } from '../../../lib/storage/storage.ts'
import { isObject, type Mistake, plant, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State, UserRow } from './state.ts'

type Update = Parameters<PlainStore['updateUser']>
type Applied = Parameters<PlainStore['applyUpdate']>
type Checked = Parameters<PlainStore['checkUpdate']>

/** A mistake in the record that an update makes. */
function changedUser (
  title: string, change: (user: UserRecord, before: UserRecord, given: UserChanges) => object
): Mistake {
  return plant(title, class extends PlainStore {
    override changedRow (...given: Parameters<PlainStore['changedRow']>) {
      const [before, changes] = given
      const { user, keys } = super.changedRow(...given)
      return { user: { ...user, ...change(user, before.user, changes) }, keys }
    }
  })
}

/** A mistake in what counts as stored already. */
function stored (title: string, isStored: (row: UserRow, changes: UserChanges, really: boolean) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override isStored (row: UserRow, changes: UserChanges) {
      return isStored(row, changes, super.isStored(row, changes))
    }
  })
}

/** A mistake of updates that change nothing. */
function unchanged (title: string, apply: (state: State, row: UserRow, updatedAt: string) => object): Mistake {
  return plant(title, class extends PlainStore {
    override applyUpdate (...given: Applied) {
      const [state, row, changes, updatedAt] = given
      if (!this.isStored(row, changes)) return super.applyUpdate(...given)
      return { user: this.giveUser(row.user), changed: false, ...apply(state, row, updatedAt) }
    }
  })
}

/** A mistake that leaves something behind when an e-mail key is refused. */
function leaves (title: string, leave: (row: UserRow, changes: UserChanges) => UserRow): Mistake {
  return plant(title, class extends PlainStore {
    override checkUpdate (...given: Checked) {
      const [state, id, changes] = given
      try {
        return super.checkUpdate(...given)
      } catch (error) {
        const row = state.users.get(id)
        const isTaken = error instanceof StorageError && error.code === 'email_taken'
        if (row !== undefined && isTaken) state.users.set(id, leave(row, changes))
        throw error
      }
    }
  })
}

function sorted (value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted().map(([name, member]) => [name, sorted(member)]))
}

function merged (before: Json, after: Json): Json {
  if (!isObject(before) || !isObject(after)) return after
  const members = Object.entries(after).map(([name, value]): [string, Json] => {
    return [name, merged(before[name] ?? null, value)]
  })
  return { ...before, ...Object.fromEntries(members) }
}

function asText (value: Json): Json {
  if (Array.isArray(value)) return value.map(asText)
  if (!isObject(value)) return String(value)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asText(member)]))
}

function equal (a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

export const writesUpdate: Mistake[] = [
  plant('updateUser leaves the old e-mail key taken', class extends PlainStore {
    held = new Map<string, string>()

    override applyUpdate (...given: Applied) {
      const [, { user, keys }] = given
      const result = super.applyUpdate(...given)
      if (result.changed && given[2].email !== undefined) this.held.set(keys.emailKey, user.id)
      return result
    }

    override requireFreeEmail (state: State, emailKey: string, id: string) {
      const holder = this.held.get(emailKey)
      if (holder !== undefined && holder !== id && state.users.has(holder)) throw this.emailTaken('')
      super.requireFreeEmail(state, emailKey, id)
    }
  }),
  plant('updateUser does not index the new e-mail key', class extends PlainStore {
    override changedRow (...given: Parameters<PlainStore['changedRow']>) {
      const row = super.changedRow(...given)
      return { ...row, keys: { ...row.keys, emailKey: given[0].keys.emailKey } }
    }
  }),
  plant('updateUser does not index the new name key', class extends PlainStore {
    override changedRow (...given: Parameters<PlainStore['changedRow']>) {
      const row = super.changedRow(...given)
      return { ...row, keys: { ...row.keys, nameKey: given[0].keys.nameKey } }
    }
  }),
  unchanged('updateUser counts a version without a change', ({ users }, { user, keys }) => {
    users.set(user.id, { user: { ...user, version: user.version + 1 }, keys })
    return { user: { ...user, version: user.version + 1 } }
  }),
  unchanged('updateUser sets updatedAt without a change', ({ users }, { user, keys }, updatedAt) => {
    users.set(user.id, { user: { ...user, updatedAt }, keys })
    return {}
  }),
  unchanged('updateUser gives updatedAt without a change', (_state, { user }, updatedAt) => {
    return { user: { ...user, updatedAt } }
  }),
  unchanged('updateUser says changed without a change', () => ({ changed: true })),
  plant('updateUser gives null without a change', class extends PlainStore {
    override async updateUser (...given: Update) {
      const update = await super.updateUser(...given)
      return update?.changed === false ? null : update
    }
  }),
  changedUser('updateUser does not count a change of fields', (_user, { version }, { name, email }) => {
    return name === undefined && email === undefined ? { version } : {}
  }),
  changedUser('updateUser counts a version for each given value', (_user, before, given) => ({
    version: before.version + Object.keys(given).length
  })),
  changedUser('updateUser sets updatedAt by its own clock', () => ({ updatedAt: new Date().toISOString() })),
  plant('updateUser sets an updatedAt before createdAt', class extends PlainStore {
    override changedRow (...given: Parameters<PlainStore['changedRow']>) {
      const [, , updatedAt] = given
      const { user, keys } = super.changedRow(...given)
      return { user: { ...user, updatedAt }, keys }
    }
  }),
  plant('updateUser lets updatedAt go back as far as createdAt', class extends PlainStore {
    override changedRow (...given: Parameters<PlainStore['changedRow']>) {
      const [, , updatedAt] = given
      const { user, keys } = super.changedRow(...given)
      return { user: { ...user, updatedAt: updatedAt < user.createdAt ? user.createdAt : updatedAt }, keys }
    }
  }),
  changedUser('updateUser keeps updatedAt when only fields change', (_user, { updatedAt }, { name, email }) => {
    return name === undefined && email === undefined ? { updatedAt } : {}
  }),
  changedUser('updateUser moves createdAt', ({ updatedAt }) => ({ createdAt: updatedAt })),
  changedUser('updateUser merges fields', ({ fields }, before) => ({ fields: { ...before.fields, ...fields } })),
  changedUser('updateUser merges nested objects of fields', ({ fields }, before) => ({
    fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => {
      return [name, merged(before.fields[name] ?? null, value)]
    }))
  })),
  changedUser('updateUser keeps the order of the members before', ({ fields }, before, given) => {
    if (given.fields === undefined) return {}
    const kept = Object.entries(before.fields).filter(([name]) => Object.hasOwn(fields, name))
    return { fields: { ...Object.fromEntries(kept), ...fields } }
  }),
  changedUser('updateUser can not empty the fields', ({ fields }, before) => {
    return Object.keys(fields).length === 0 ? { fields: before.fields } : {}
  }),
  stored('updateUser takes another order of members for no change', (row, changes, really) => {
    const { fields } = changes
    if (fields === undefined || !equal(sorted(fields), sorted(row.user.fields))) return really
    return (changes.name ?? row.user.name) === row.user.name && changes.email === undefined
  }),
  stored('updateUser takes equal fields for a change', (_row, { fields }, really) => fields === undefined && really),
  stored('updateUser takes a number and its text for equal', (row, { name, email, fields }, really) => {
    if (fields === undefined || name !== undefined || email !== undefined) return really
    return equal(asText(fields), asText(row.user.fields))
  }),
  stored('updateUser compares keys and not values', ({ keys, user }, { name, email, fields }) => {
    return (name?.key ?? keys.nameKey) === keys.nameKey && (email?.key ?? keys.emailKey) === keys.emailKey &&
      equal(fields ?? user.fields, user.fields)
  }),
  stored('updateUser compares the first given value only', ({ user }, { name, email }, really) => {
    if (name !== undefined) return name.value === user.name
    return email !== undefined ? email.value === user.email : really
  }),
  stored('updateUser takes one value that is stored for all', ({ user }, { name, email, fields }, really) => {
    return really || name?.value === user.name || email?.value === user.email ||
      (fields !== undefined && equal(fields, user.fields))
  }),
  stored('updateUser takes no given value for a change', (_row, given, really) => {
    return Object.keys(given).length > 0 && really
  }),
  stored('updateUser compares the first level of fields only', ({ user }, { name, email, fields }, really) => {
    if (fields === undefined || name !== undefined || email !== undefined) return really
    return equal(Object.entries(fields).map(String), Object.entries(user.fields).map(String))
  }),
  plant('updateUser refuses the user\'s own e-mail key', class extends PlainStore {
    override requireFreeEmail (state: State, emailKey: string) {
      super.requireFreeEmail(state, emailKey, '')
    }
  }),
  plant('updateUser refuses an unknown id as version_mismatch', class extends PlainStore {
    override checkUpdate (...given: Checked) {
      const row = super.checkUpdate(...given)
      const { ifVersion } = given[3]
      if (row === null && ifVersion !== null) throw new StorageError('version_mismatch', 'another version')
      return row
    }
  }),
  plant('updateUser adds an unknown user', class extends PlainStore {
    override checkUpdate (...given: Checked) {
      const [state, id, { name, email }] = given
      const row = super.checkUpdate(...given)
      if (row !== null || name === undefined) return row
      const fields: JsonObject = {}
      const values = { name: '', email: email?.value ?? '', fields, status: 'active', statusReason: null } as const
      const user: UserRecord = { id, ...values, version: 0, createdAt: '', updatedAt: '' }
      state.users.set(id, { user, keys: { emailKey: email?.key ?? id, nameKey: '' } })
      return this.find(state.users, id)
    }
  }),
  leaves('updateUser keeps the name of a refused e-mail address', ({ user, keys }, { name }) => ({
    user: { ...user, name: name?.value ?? user.name }, keys
  })),
  leaves('updateUser keeps the fields of a refused e-mail address', ({ user, keys }, { fields }) => ({
    user: { ...user, fields: fields ?? user.fields }, keys
  })),
  leaves('updateUser counts a version when it refuses', ({ user, keys }) => ({
    user: { ...user, version: user.version + 1 }, keys
  })),
  leaves('updateUser frees the old e-mail key when it refuses', ({ user, keys }) => ({
    user, keys: { ...keys, emailKey: '' }
  })),
  plant('updateUser gives the user before the change', class extends PlainStore {
    override applyUpdate (...given: Applied) {
      const before = this.giveUser(given[1].user)
      return { user: before, changed: super.applyUpdate(...given).changed }
    }
  }),
  plant('updateUser gives a user without its fields', class extends PlainStore {
    override applyUpdate (...given: Applied) {
      const { user: { fields, ...user }, changed } = super.applyUpdate(...given)
      return { user: untyped(given[2].fields === undefined ? user : { ...user, fields }), changed }
    }
  })
]
