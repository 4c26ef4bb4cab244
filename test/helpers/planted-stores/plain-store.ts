import { endOf, requireAnotherKey, withSuccessors } from '../../../lib/storage/storage-rules.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type {
  ApiKeyRecord, Page, PageRequest, StorageInTransaction
} from '../../../lib/storage/storage.ts'
import type { Revocation, RevokeOptions } from '../../../adapters/testing/kit-storage.ts'
import type { MethodStore } from '../method-store.ts'
import { PlainUsers } from './plain-users.ts'
import { type State, Transaction } from './state.ts'

/** A correct store: one step for each method, after a turn of the event loop. */
export class PlainStore extends PlainUsers implements MethodStore {
  keepKey (key: ApiKeyRecord): ApiKeyRecord {
    return structuredClone(key)
  }

  giveKey (key: ApiKeyRecord): ApiKeyRecord {
    return structuredClone(key)
  }

  async createApiKey (key: ApiKeyRecord, { onlyFirst }: { onlyFirst: boolean }): Promise<boolean> {
    const kept = this.keepKey(key)
    return await this.write(
      'createApiKey',
      (state) => this.checkNewKey(state, kept, onlyFirst),
      (state, free) => free && this.addKey(state, kept)
    )
  }

  checkNewKey (state: State, key: ApiKeyRecord, onlyFirst: boolean): boolean {
    if (onlyFirst && this.hasKeys(state)) return false
    this.requireFreeKey(state, key)
    return true
  }

  hasKeys (state: State): boolean {
    return state.apiKeys.size > 0
  }

  requireFreeKey (state: State, key: ApiKeyRecord): void {
    this.requireFreeKeyId(state, key.id)
    this.requireFreeStart(state, key.start)
  }

  requireFreeKeyId (state: State, id: string): void {
    if (state.apiKeys.has(id)) throw new StorageError('fault', 'another key has the id')
  }

  requireFreeStart (state: State, start: string): void {
    if (this.byStart(state, start) !== null) throw new StorageError('fault', 'another key has the start')
  }

  byStart (state: State, start: string): ApiKeyRecord | null {
    return [...state.apiKeys.values()].find((key) => this.sameStart(key.start, start)) ?? null
  }

  sameStart (stored: string, start: string): boolean {
    return stored === start
  }

  addKey (state: State, key: ApiKeyRecord): boolean {
    this.putKey(state, key)
    return true
  }

  putKey (state: State, key: ApiKeyRecord): void {
    state.apiKeys.set(key.id, key)
  }

  async findApiKey (id: string): Promise<ApiKeyRecord | null> {
    return await this.read((state) => {
      const key = this.find(state.apiKeys, id)
      return key === null ? null : this.giveKey(key)
    })
  }

  async findApiKeyByStart (start: string): Promise<ApiKeyRecord | null> {
    return await this.read((state) => {
      const key = this.byStart(state, start)
      return key === null ? null : this.giveKey(key)
    })
  }

  async listApiKeys (page: PageRequest): Promise<Page<ApiKeyRecord>> {
    return await this.read((state) => {
      const { items, total } = this.pageOf(this.listedKeys(state), page)
      return { items: items.map((key) => this.giveKey(key)), total }
    })
  }

  listedKeys (state: State): ApiKeyRecord[] {
    return [...state.apiKeys.values()]
  }

  async rotateApiKey (
    id: string, successor: ApiKeyRecord, times: { now: string, expiresAt: string }
  ): Promise<ApiKeyRecord | null> {
    const kept = this.keepKey(successor)
    return await this.write(
      'rotateApiKey',
      (state) => this.checkRotation(state, id, kept, times.now),
      (state, old) => old === null
        ? null
        : this.applyRotation(state, { ...old, rotatedAt: times.now }, kept, times.expiresAt)
    )
  }

  checkRotation (state: State, id: string, successor: ApiKeyRecord, now: string): ApiKeyRecord | null {
    const old = this.find(state.apiKeys, id)
    if (old === null) return null
    if (!this.isRotatable(old, now)) throw new StorageError('api_key_inactive', 'the key is not active')
    this.requireFreeKey(state, successor)
    return old
  }

  isRotatable (key: ApiKeyRecord, now: string): boolean {
    return this.isActive(key, now) && this.isActive(key, key.rotatedAt ?? now)
  }

  isActive (key: ApiKeyRecord, now: string): boolean {
    return Date.parse(now) < endOf(key)
  }

  applyRotation (state: State, old: ApiKeyRecord, successor: ApiKeyRecord, expiresAt: string): ApiKeyRecord {
    const rotated = this.keepKey({ ...old, expiresAt: this.endAfterRotation(old.expiresAt, expiresAt) })
    this.putKey(state, rotated)
    this.putKey(state, successor)
    return this.giveKey(rotated)
  }

  endAfterRotation (own: string | null, expiresAt: string): string | null {
    return own !== null && own < expiresAt ? own : expiresAt
  }

  async revokeApiKey (
    id: string, revokedAt: string, { keepOneWith, successors = false }: RevokeOptions
  ): Promise<Revocation | null> {
    if (successors) return await this.revokeChain(id, revokedAt, keepOneWith)
    return await this.write(
      'revokeApiKey',
      (state) => this.checkRevocation(state, id, revokedAt, keepOneWith),
      (state, key) => key === null ? null : this.applyRevocation(state, key, revokedAt)
    )
  }

  checkRevocation (state: State, id: string, revokedAt: string, scopes: readonly string[]): ApiKeyRecord | null {
    const key = this.find(state.apiKeys, id)
    if (key !== null) this.requireAnother(state, key, scopes, revokedAt)
    return key
  }

  requireAnother (state: State, key: ApiKeyRecord, scopes: readonly string[], now: string): void {
    requireAnotherKey([key], state.apiKeys.values(), scopes, now)
  }

  applyRevocation (state: State, key: ApiKeyRecord, revokedAt: string): Revocation {
    if (key.revokedAt !== null) return { key: this.giveKey(key), changed: false }
    const revoked = this.keepKey({ ...key, revokedAt })
    this.putKey(state, revoked)
    return { key: this.giveKey(revoked), changed: true }
  }

  async revokeChain (id: string, revokedAt: string, scopes: readonly string[]): Promise<Revocation | null> {
    return await this.write(
      'revokeApiKey',
      (state) => this.checkChain(state, id, revokedAt, scopes),
      (state, chain) => this.applyChain(state, chain, revokedAt)
    )
  }

  checkChain (state: State, id: string, revokedAt: string, scopes: readonly string[]): ApiKeyRecord[] {
    const key = this.find(state.apiKeys, id)
    const chain = key === null ? [] : this.chainOf(state, key)
    this.requireOutside(state, chain, scopes, revokedAt)
    return chain
  }

  chainOf (state: State, key: ApiKeyRecord): ApiKeyRecord[] {
    return withSuccessors(key, state.apiKeys.values())
  }

  requireOutside (state: State, chain: readonly ApiKeyRecord[], scopes: readonly string[], now: string): void {
    requireAnotherKey(chain, state.apiKeys.values(), scopes, now)
  }

  applyChain (state: State, [key, ...others]: readonly ApiKeyRecord[], revokedAt: string): Revocation | null {
    if (key === undefined) return null
    const successors = others.map((each) => this.applyRevocation(state, each, revokedAt))
      .filter(({ changed }) => changed).map(({ key }) => ({ key, event: null }))
    return { ...this.applyRevocation(state, key, revokedAt), successors }
  }

  async touchApiKey (id: string, usedAt: string, ifBefore: string): Promise<void> {
    await this.write(
      'touchApiKey',
      (state) => this.find(state.apiKeys, id),
      (state, key) => this.applyTouch(state, key, usedAt, ifBefore)
    )
  }

  applyTouch (state: State, key: ApiKeyRecord | null, usedAt: string, ifBefore: string): void {
    if (key === null || !this.mayTouch(key.lastUsedAt, ifBefore)) return
    this.putKey(state, this.keepKey({ ...key, lastUsedAt: usedAt }))
  }

  mayTouch (lastUsedAt: string | null, ifBefore: string): boolean {
    return lastUsedAt === null || lastUsedAt <= ifBefore
  }

  joinTransaction (transaction: unknown): MethodStore & Pick<StorageInTransaction, 'afterCommit'> {
    const isJoinable = this.supports.transactions && transaction instanceof Transaction && transaction.isOpen
    if (isJoinable) return this.inside(transaction)
    throw new TypeError('joinTransaction takes an open transaction of this store')
  }

  inside (transaction: Transaction): MethodStore & Pick<StorageInTransaction, 'afterCommit'> {
    const store: PlainStore = Object.create(this, { session: { value: transaction } })
    return Object.assign(store, {
      afterCommit: (callback: () => void) => { this.registerCallback(transaction, callback) },
      close: async () => {}
    })
  }

  registerCallback (transaction: Transaction, callback: () => void): void {
    transaction.callbacks.push(callback)
  }
}
