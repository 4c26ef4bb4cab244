import type { VersionGuard } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, withGap } from './plant.ts'
import { PlainStore } from './plain-store.ts'

type Update = Parameters<PlainStore['updateUser']>
type Delete = Parameters<PlainStore['deleteUser']>

const ANY: VersionGuard = { ifVersion: null, unlessVersion: [] }

export const writesRaces: Mistake[] = [
  plant('concurrent updates lose one another\'s values', class extends PlainStore {
    override async updateUser (...given: Update) {
      const [id, changes, updatedAt, guard] = given
      if (guard.ifVersion !== null || changes.email !== undefined) return await super.updateUser(...given)
      const row = await this.read((state) => this.checkUpdate(state, id, changes, guard))
      await this.turn()
      return await this.write('', ({ users }) => users.has(id) ? row : null, (state, read) => {
        return read === null ? null : this.applyUpdate(state, read, changes, updatedAt)
      })
    }
  }),
  plant('concurrent updates with one ifVersion both succeed', class extends PlainStore {
    override async updateUser (...[id, changes, updatedAt, guard]: Update) {
      if (guard.ifVersion !== null) await this.read((state) => this.checkUpdate(state, id, changes, guard))
      return await super.updateUser(id, changes, updatedAt, guard.ifVersion === null ? guard : ANY)
    }
  }),
  plant('concurrent updates with unlessVersion reach the version', class extends PlainStore {
    override async updateUser (...[id, changes, updatedAt, guard]: Update) {
      await this.read((state) => this.checkUpdate(state, id, changes, guard))
      return await super.updateUser(id, changes, updatedAt, { ...guard, unlessVersion: [] })
    }
  }),
  plant('concurrent updates take one e-mail key', class extends PlainStore {
    override async updateUser (...[id, changes, updatedAt, guard]: Update) {
      await this.read((state) => this.checkUpdate(state, id, changes, guard))
      await this.turn()
      return await this.write('', (state) => this.checkUpdate(state, id, {}, guard), (state, row) => {
        return row === null ? null : this.applyUpdate(state, row, changes, updatedAt)
      })
    }
  }),
  plant('an update brings a user back that is deleted meanwhile', class extends PlainStore {
    override async updateUser (...[id, changes, updatedAt, guard]: Update) {
      const row = await this.read((state) => this.find(state.users, id))
      await this.turn()
      await this.write('', () => null, ({ users }) => {
        if (row !== null && !users.has(id) && guard.ifVersion === null) users.set(id, row)
      })
      return await super.updateUser(id, changes, updatedAt, guard)
    }
  }),
  plant('concurrent updates give the same version', class extends PlainStore {
    override async updateUser (...given: Update) {
      const update = await super.updateUser(...given)
      const user = await this.findUser(given[0])
      return update === null || user === null ? update : { ...update, user }
    }
  }),
  plant('an update of name and e-mail address shows one before the other', class extends PlainStore {
    override async updateUser (...given: Update) {
      const [id, changes,, guard] = given
      const { name, email } = changes
      if (name === undefined || email === undefined) return await super.updateUser(...given)
      await this.write('', (state) => this.checkUpdate(state, id, changes, guard), ({ users }, row) => {
        if (row === null || this.isStored(row, { email })) return
        users.set(id, { user: { ...row.user, name: name.value }, keys: { ...row.keys, nameKey: name.key } })
      })
      return await super.updateUser(...given)
    }
  }),
  plant('an update that is refused shows its values for a moment', class extends PlainStore {
    override async updateUser (...given: Update) {
      const [id, changes, updatedAt] = given
      const { email, ...others } = changes
      const before = email === undefined
        ? null
        : await this.write('', (state) => this.checkUpdate(state, id, {}, given[3]), ({ users }, row) => {
          if (row !== null) users.set(id, this.changedRow(row, others, updatedAt))
          return row
        })
      await this.turn()
      if (before !== null) await this.write('', () => null, ({ users }) => users.has(id) && users.set(id, before))
      return await super.updateUser(...given)
    }
  }),
  plant('concurrent deletions both give the user', class extends withGap('deleteUser') {}),
  plant('a deletion takes a version that it does not accept', class extends PlainStore {
    override async deleteUser (...[id, guard]: Delete) {
      await this.read((state) => this.checkDeletion(state, id, guard))
      return await super.deleteUser(id, ANY)
    }
  }),
  plant('a deletion gives a state before the last one', class extends PlainStore {
    override async deleteUser (...given: Delete) {
      const before = await this.findUser(given[0])
      const user = await super.deleteUser(...given)
      return user === null ? null : before ?? user
    }
  }),
  plant('a deletion frees the e-mail key later', class extends PlainStore {
    freed = new Map<string, number>()
    calls = 0

    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      this.freed.set(given[1].keys.emailKey, this.calls + 1)
      return super.removeUser(...given)
    }

    override async createUser (...given: Parameters<PlainStore['createUser']>) {
      this.calls++
      if (this.calls === this.freed.get(given[1].emailKey)) throw this.emailTaken('')
      return await super.createUser(...given)
    }
  })
]
