import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import { updateTypes } from '../../../lib/storage/recorded-events.ts'
import { changedKeys, requireSameRequest, requireVersion } from '../../../lib/storage/storage-rules.ts'
import { meets, sortedPage } from '../../../lib/storage/user-order.ts'
import type {
  Idempotency, JsonObject, OnUsers, Page, SortedPageRequest, UserChanges, UserFilter, UserKeys, UserPageRequest,
  UserRecord, UserSort, VersionGuard
} from '../../../lib/storage/storage.ts'
import type { Creation } from '../../../adapters/testing/kit-storage.ts'
import type { UserUpdate } from '../../../lib/storage/make-write.ts'
import { PlainSearch } from './plain-search.ts'
import type { IdempotencyRow, State, UserRow } from './state.ts'

/** Users and idempotency keys. */
export class PlainUsers extends PlainSearch {
  keepUser (user: UserRecord): UserRecord {
    return structuredClone(user)
  }

  giveUser (user: UserRecord): UserRecord {
    return structuredClone(user)
  }

  keepKeys (keys: UserKeys): UserKeys {
    return structuredClone(keys)
  }

  async createUser (user: UserRecord, keys: UserKeys, idempotency: Idempotency | null): Promise<Creation> {
    const row = { user: this.keepUser(user), keys: this.keepKeys(keys) }
    return await this.write(
      'createUser',
      (state) => this.checkCreation(state, row, idempotency),
      (state, first) => first === null ? this.addUser(state, row, idempotency) : this.replay(state, first, row)
    )
  }

  checkCreation (state: State, row: UserRow, idempotency: Idempotency | null): IdempotencyRow | null {
    const first = idempotency === null ? null : this.firstCreation(state, idempotency)
    if (first !== null) return first
    this.requireFreeId(state, row.user.id)
    this.requireFreeEmail(state, row.keys.emailKey, row.user.id)
    this.requireFreeFields(state, row.user.fields, row.user.id)
    return null
  }

  firstCreation (state: State, idempotency: Idempotency): IdempotencyRow | null {
    const row = this.find(state.idempotency, idempotency.key)
    if (row === null || !this.isLive(row, idempotency.now)) return null
    requireSameRequest(row.fingerprint, idempotency)
    return row
  }

  isLive (row: IdempotencyRow, now: string): boolean {
    return row.expiresAt > now
  }

  addUser (state: State, row: UserRow, idempotency: Idempotency | null): Creation {
    this.putUser(state, row)
    if (idempotency !== null) this.putIdempotency(state, row, idempotency)
    return { user: this.giveUser(row.user), replayed: false }
  }

  putUser (state: State, row: UserRow): void {
    state.users.set(row.user.id, row)
  }

  putIdempotency (state: State, row: UserRow, idempotency: Idempotency): void {
    state.idempotency.set(idempotency.key, { ...idempotency, user: structuredClone(row.user) })
  }

  replay (_state: State, first: IdempotencyRow, _again: UserRow): Creation {
    return { user: this.giveUser(first.user), replayed: true }
  }

  async pruneIdempotency (now: string): Promise<void> {
    await this.write('pruneIdempotency', () => null, (state) => {
      for (const row of [...state.idempotency.values()]) {
        if (!this.isLive(row, now)) state.idempotency.delete(row.key)
      }
    })
  }

  async findUser (id: string): Promise<UserRecord | null> {
    return await this.read((state) => {
      const row = this.find(state.users, id)
      return row === null ? null : this.giveUser(row.user)
    })
  }

  async listUsers (filter: UserFilter, page: UserPageRequest): Promise<Page<UserRecord>> {
    return await this.read((state) => this.usersOf(state, filter, page))
  }

  async readUsers (filter: UserFilter, order: 'asc' | 'desc', onPart: OnUsers, sort?: UserSort): Promise<void> {
    const users = await this.read((state) => sort === undefined
      ? this.readingOf(state, filter, order)
      : this.inOrder(state, filter, { sort, order, limit: Infinity, from: { offset: 0 } }))
    await this.giveParts(users, onPart)
  }

  readingOf (state: State, filter: UserFilter, order: 'asc' | 'desc'): UserRecord[] {
    return this.sort(this.matching(state, filter), order).map((user) => this.giveUser(user))
  }

  async giveParts (users: UserRecord[], onPart: OnUsers, size = READ_PART_MAX): Promise<void> {
    for (let start = 0; start < users.length; start += size) await onPart(users.slice(start, start + size))
  }

  inOrder (state: State, filter: UserFilter, page: SortedPageRequest): UserRecord[] {
    const rows = [...state.users.values()].filter((row) => this.matches(row, filter))
    return sortedPage(rows, page).map(({ user }) => this.giveUser(user))
  }

  usersOf (state: State, filter: UserFilter, page: UserPageRequest): Page<UserRecord> {
    if (page.sort !== undefined) {
      return { items: this.inOrder(state, filter, page), total: this.matching(state, filter).length }
    }
    const { items, total } = this.pageOf(this.matching(state, filter), page)
    return { items: items.map((user) => this.giveUser(user)), total }
  }

  matching (state: State, filter: UserFilter): UserRecord[] {
    return [...state.users.values()].filter((row) => this.matches(row, filter)).map(({ user }) => user)
  }

  matches ({ user, keys }: UserRow, { emailKey, words, fields, status, ...rest }: UserFilter): boolean {
    return meets(user, rest) && (status === undefined || user.status === status) &&
      (emailKey === null || this.matchesEmailKey(keys.emailKey, emailKey)) &&
      (words === null || this.matchesSearch(keys, words)) && this.matchesFields(user.fields, fields)
  }

  matchesEmailKey (stored: string, emailKey: string): boolean {
    return stored === emailKey
  }

  matchesFields (fields: JsonObject, wanted: UserFilter['fields']): boolean {
    return Object.entries(wanted).every(([name, value]) => this.hasField(fields, name, value))
  }

  hasField (fields: JsonObject, name: string, value: string | number | boolean): boolean {
    return Object.hasOwn(fields, name) && fields[name] === value
  }

  async updateUser (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard
  ): Promise<UserUpdate | null> {
    const given = this.keepChanges(changes)
    return await this.write(
      'updateUser',
      (state) => this.checkUpdate(state, id, given, guard),
      (state, row) => row === null ? null : this.applyUpdate(state, row, given, updatedAt)
    )
  }

  keepChanges (changes: UserChanges): UserChanges {
    return structuredClone(changes)
  }

  checkUpdate (state: State, id: string, changes: UserChanges, guard: VersionGuard): UserRow | null {
    const row = this.find(state.users, id)
    if (row === null) return null
    this.requireGuard(guard, row.user)
    if (changes.email !== undefined && !this.isStored(row, changes)) {
      this.requireFreeEmail(state, changes.email.key, id)
    }
    if (changes.fields !== undefined) this.requireFreeFields(state, changes.fields, id)
    return row
  }

  requireGuard (guard: VersionGuard, user: UserRecord): void {
    requireVersion(guard, user)
  }

  isStored ({ user }: UserRow, { name, email, fields, fieldWords: _words, ...standing }: UserChanges): boolean {
    return (name === undefined || this.sameText(name.value, user.name)) &&
      (email === undefined || this.sameText(email.value, user.email)) &&
      (fields === undefined || this.sameFields(fields, user.fields)) && this.sameStatus(standing, user)
  }

  applyUpdate (state: State, row: UserRow, changes: UserChanges, updatedAt: string): UserUpdate {
    if (this.isStored(row, changes)) return { user: this.giveUser(row.user), changed: false }
    const changed = this.changedRow(row, changes, updatedAt)
    this.putUser(state, changed)
    const types = row.user.status === changed.user.status ? {} : { types: updateTypes(row.user, changed.user) }
    return { user: this.giveUser(changed.user), changed: true, ...types }
  }

  changedRow ({ user, keys }: UserRow, changes: UserChanges, updatedAt: string): UserRow {
    const { name, email, fields, fieldWords: _words, ...standing } = changes
    return {
      user: this.keepUser({
        ...user,
        name: name?.value ?? user.name,
        email: email?.value ?? user.email,
        fields: fields ?? user.fields,
        ...standing,
        version: user.version + 1,
        updatedAt: updatedAt < user.updatedAt ? user.updatedAt : updatedAt
      }),
      keys: this.keepKeys(changedKeys(keys, changes))
    }
  }

  async deleteUser (id: string, guard: VersionGuard): Promise<UserRecord | null> {
    return await this.write(
      'deleteUser',
      (state) => this.checkDeletion(state, id, guard),
      (state, row) => row === null ? null : this.removeUser(state, row)
    )
  }

  checkDeletion (state: State, id: string, guard: VersionGuard): UserRow | null {
    const row = this.find(state.users, id)
    if (row !== null) this.requireGuard(guard, row.user)
    return row
  }

  removeUser (state: State, { user }: UserRow): UserRecord {
    state.users.delete(user.id)
    this.forgetCreation(state, user.id)
    return this.giveUser(user)
  }

  forgetCreation (state: State, id: string): void {
    for (const row of [...state.idempotency.values()]) {
      if (row.user.id === id) state.idempotency.delete(row.key)
    }
  }
}
