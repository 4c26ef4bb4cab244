import type { ApiKeyRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, withGap } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Created = Parameters<PlainStore['createApiKey']>
type Rotation = Parameters<PlainStore['rotateApiKey']>
type Revocation = Parameters<PlainStore['revokeApiKey']>

export const apiKeysRaces: Mistake[] = [
  plant('concurrent calls with onlyFirst both add a key', class extends withGap('createApiKey') {
    override addKey (state: State, key: ApiKeyRecord) {
      this.requireFreeKey(state, key)
      return super.addKey(state, key)
    }
  }),
  plant('concurrent calls with onlyFirst add a key after a longer wait', class extends withGap('createApiKey', 4) {
    override addKey (state: State, key: ApiKeyRecord) {
      this.requireFreeKey(state, key)
      return super.addKey(state, key)
    }
  }),
  plant('concurrent createApiKey calls take one start', class extends PlainStore {
    override async createApiKey (...[key, options]: Created) {
      await this.read((state) => this.requireFreeStart(state, key.start))
      return await this.write('', (state) => {
        if (options.onlyFirst && this.hasKeys(state)) return false
        this.requireFreeKeyId(state, key.id)
        return true
      }, (state, isFree) => isFree && this.addKey(state, this.keepKey(key)))
    }
  }),
  plant('concurrent createApiKey calls take one id', class extends PlainStore {
    override async createApiKey (...[key, options]: Created) {
      await this.read((state) => this.requireFreeKeyId(state, key.id))
      return await this.write('', (state) => {
        if (options.onlyFirst && this.hasKeys(state)) return false
        this.requireFreeStart(state, key.start)
        return true
      }, (state, isFree) => isFree && this.addKey(state, this.keepKey(key)))
    }
  }),
  plant('a rotation undoes a revocation that is made meanwhile', class extends withGap('rotateApiKey') {
    override applyRotation (...given: Parameters<PlainStore['applyRotation']>) {
      this.requireFreeKey(given[0], given[2])
      return super.applyRotation(...given)
    }
  }),
  plant('a rotation of a key that is revoked meanwhile adds a successor', class extends PlainStore {
    override async rotateApiKey (...[id, successor, times]: Rotation) {
      const kept = this.keepKey(successor)
      await this.read((state) => this.checkRotation(state, id, kept, times.now))
      await this.turn()
      return await this.write('', (state) => {
        this.requireFreeKey(state, kept)
        return this.find(state.apiKeys, id)
      }, (state, old) => old === null ? null : this.applyRotation(state, old, kept, times.expiresAt))
    }
  }),
  plant('a rotation undoes a touch that is made meanwhile', class extends PlainStore {
    override async rotateApiKey (...[id, successor, times]: Rotation) {
      const before = await this.findApiKey(id)
      await this.turn()
      const rotated = await super.rotateApiKey(id, successor, times)
      if (rotated === null || before === null) return rotated
      await this.write('', () => null, ({ apiKeys }) => {
        const key = apiKeys.get(id)
        if (key !== undefined) apiKeys.set(id, { ...key, lastUsedAt: before.lastUsedAt })
      })
      return { ...rotated, lastUsedAt: before.lastUsedAt }
    }
  }),
  plant('concurrent rotations take one start', class extends PlainStore {
    override async rotateApiKey (...[id, successor, times]: Rotation) {
      const kept = this.keepKey(successor)
      await this.read((state) => this.checkRotation(state, id, kept, times.now))
      return await this.write('', (state) => {
        return this.checkRotation(state, id, { ...kept, start: '' }, times.now)
      }, (state, old) => old === null ? null : this.applyRotation(state, old, kept, times.expiresAt))
    }
  }),
  plant('concurrent rotations let a key live longer', class extends PlainStore {
    override async rotateApiKey (...[id, successor, times]: Rotation) {
      const before = await this.findApiKey(id)
      await this.turn()
      await super.rotateApiKey(id, successor, times)
      const expiresAt = this.endAfterRotation(before?.expiresAt ?? null, times.expiresAt)
      return await this.write('', (state) => this.find(state.apiKeys, id), (state, key) => {
        if (key !== null) this.putKey(state, { ...key, expiresAt })
        return key === null ? null : this.giveKey({ ...key, expiresAt })
      })
    }
  }),
  plant('a rotation shows the successor before the old key expires', class extends PlainStore {
    override async rotateApiKey (...[id, successor, times]: Rotation) {
      const kept = this.keepKey(successor)
      const old = await this.write('', (state) => this.checkRotation(state, id, kept, times.now), (state, key) => {
        if (key !== null) this.putKey(state, kept)
        return key
      })
      if (old === null) return null
      await this.turn()
      return await this.write('', ({ apiKeys }) => apiKeys.get(id) ?? old, (state, key) => {
        return this.applyRotation(state, key, state.apiKeys.get(kept.id) ?? kept, times.expiresAt)
      })
    }
  }),
  plant('a rotation lets the old key expire before its successor is there', class extends PlainStore {
    override async rotateApiKey (...given: Rotation) {
      const [id, successor, { now, expiresAt }] = given
      const kept = this.keepKey(successor)
      const old = await this.write('', (state) => this.checkRotation(state, id, kept, now), (state, key) => {
        if (key === null) return null
        const rotated = { ...key, expiresAt: this.endAfterRotation(key.expiresAt, expiresAt) }
        this.putKey(state, rotated)
        return this.giveKey(rotated)
      })
      await this.turn()
      if (old === null) return null
      await this.write('', (state) => this.requireFreeKey(state, kept), (state) => this.putKey(state, kept))
      return old
    }
  }),
  plant('concurrent revocations leave no key', class extends withGap('revokeApiKey') {
    override applyRevocation (...[state, key, revokedAt]: Parameters<PlainStore['applyRevocation']>) {
      return super.applyRevocation(state, state.apiKeys.get(key.id) ?? key, revokedAt)
    }
  }),
  plant('concurrent revocations leave no key after a longer wait', class extends withGap('revokeApiKey', 4) {
    override applyRevocation (...[state, key, revokedAt]: Parameters<PlainStore['applyRevocation']>) {
      return super.applyRevocation(state, state.apiKeys.get(key.id) ?? key, revokedAt)
    }
  }),
  plant('a rotation and a revocation together leave no key', class extends PlainStore {
    rotating = 0

    override async rotateApiKey (...given: Rotation) {
      this.rotating++
      return await super.rotateApiKey(...given).finally(() => { this.rotating-- })
    }

    override requireAnother (...given: Parameters<PlainStore['requireAnother']>) {
      if (this.rotating === 0) super.requireAnother(...given)
    }
  }),
  plant('concurrent revocations of one key both change it', class extends PlainStore {
    override async revokeApiKey (...[id, revokedAt, options]: Revocation) {
      const before = await this.findApiKey(id)
      await this.turn()
      const revocation = await super.revokeApiKey(id, revokedAt, options)
      if (revocation === null || before === null || before.revokedAt !== null) return revocation
      return { key: { ...revocation.key, revokedAt }, changed: true }
    }
  }),
  plant('a revocation undoes a rotation that is made meanwhile', class extends PlainStore {
    override async revokeApiKey (...[id, revokedAt, options]: Revocation) {
      const before = await this.findApiKey(id)
      await this.turn()
      const revocation = await super.revokeApiKey(id, revokedAt, options)
      if (revocation?.changed !== true || before === null) return revocation
      const key = { ...before, revokedAt: revocation.key.revokedAt }
      await this.write('', () => null, (state) => this.putKey(state, key))
      return { key: this.giveKey(key), changed: true }
    }
  }),
  plant('a revocation undoes a touch that is made meanwhile', class extends PlainStore {
    override async revokeApiKey (...[id, revokedAt, options]: Revocation) {
      const before = await this.findApiKey(id)
      await this.turn()
      const revocation = await super.revokeApiKey(id, revokedAt, options)
      if (revocation?.changed !== true || before === null) return revocation
      const key = { ...revocation.key, lastUsedAt: before.lastUsedAt }
      await this.write('', () => null, (state) => this.putKey(state, key))
      return { key: this.giveKey(key), changed: true }
    }
  }),
  plant('a touch undoes a revocation that is made meanwhile', class extends PlainStore {
    override async touchApiKey (...given: Parameters<PlainStore['touchApiKey']>) {
      const before = await this.findApiKey(given[0])
      await this.turn()
      await this.write('', ({ apiKeys }) => apiKeys.get(given[0]), (state, key) => {
        if (key !== undefined && before !== null) this.putKey(state, { ...key, revokedAt: before.revokedAt })
      })
      await super.touchApiKey(...given)
    }
  }),
  plant('a touch undoes a rotation that is made meanwhile', class extends PlainStore {
    override async touchApiKey (...given: Parameters<PlainStore['touchApiKey']>) {
      const before = await this.findApiKey(given[0])
      await this.turn()
      await this.write('', ({ apiKeys }) => apiKeys.get(given[0]), (state, key) => {
        if (key !== undefined && before !== null) this.putKey(state, { ...key, expiresAt: before.expiresAt })
      })
      await super.touchApiKey(...given)
    }
  }),
  plant('concurrent touches with one ifBefore both write', class extends withGap('touchApiKey') {})
]
