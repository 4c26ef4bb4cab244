import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { ApiKeyRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Revocation = Parameters<PlainStore['revokeApiKey']>
type Applied = Parameters<PlainStore['applyRevocation']>
type Required = Parameters<PlainStore['requireAnother']>

function isEnded ({ expiresAt }: ApiKeyRecord, now: string): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** A mistake in which keys are guarded, and which ones count beside them. */
function guards (
  title: string,
  isGuarded: (key: ApiKeyRecord, scope: string, now: string) => boolean,
  counts: (other: ApiKeyRecord, scope: string, now: string) => boolean,
  others = (key: ApiKeyRecord, other: ApiKeyRecord) => other.id !== key.id
): Mistake {
  return plant(title, class extends PlainStore {
    override requireAnother (...[state, key, scopes, now]: Required) {
      if (scopes.length === 0 || !scopes.every((scope) => isGuarded(key, scope, now))) return
      const countsFully = (other: ApiKeyRecord) => scopes.every((scope) => counts(other, scope, now))
      if ([...state.apiKeys.values()].some((other) => others(key, other) && countsFully(other))) return
      throw new StorageError('last_admin_key', 'no other active key has the scope')
    }
  })
}

function isActive (key: ApiKeyRecord, now: string): boolean {
  return key.revokedAt === null && !isEnded(key, now)
}

function isActiveWith (key: ApiKeyRecord, scope: string, now: string): boolean {
  return isActive(key, now) && key.scopes.includes(scope)
}

/** A mistake in the key that is revoked. */
function revokes (title: string, change: (key: ApiKeyRecord) => object): Mistake {
  return plant(title, class extends PlainStore {
    override applyRevocation (...given: Applied) {
      const { key, changed } = super.applyRevocation(...given)
      const altered = { ...key, ...change(key) }
      if (changed) this.putKey(given[0], this.keepKey(altered))
      return { key: changed ? altered : key, changed }
    }
  })
}

/** A mistake in the scopes that another key must have. */
function keepsOther (
  title: string,
  hasScopes: (scopes: readonly string[], own: readonly string[]) => boolean
): Mistake {
  return plant(title, class extends PlainStore {
    override requireAnother (...[state, key, scopes, now]: Required) {
      if (scopes.length === 0 || !scopes.every((scope) => isActiveWith(key, scope, now))) return
      const others = [...state.apiKeys.values()].filter((other) => other.id !== key.id && isActive(other, now))
      if (others.some((other) => hasScopes(scopes, other.scopes))) return
      throw new StorageError('last_admin_key', 'no other active key has the scopes')
    }
  })
}

export const apiKeysRevoke: Mistake[] = [
  guards('revokeApiKey counts expired keys as others', isActiveWith, (other, scope) => {
    return other.revokedAt === null && other.scopes.includes(scope)
  }),
  guards('revokeApiKey counts revoked keys as others', isActiveWith, (other, scope, now) => {
    return !isEnded(other, now) && other.scopes.includes(scope)
  }),
  guards('revokeApiKey counts the key itself', isActiveWith, isActiveWith, () => true),
  guards('revokeApiKey counts keys of other names only', isActiveWith, isActiveWith, (key, other) => {
    return key.name !== other.name
  }),
  guards('revokeApiKey takes part of a scope for the scope', isActiveWith, (other, scope, now) => {
    return isActive(other, now) && other.scopes.some((text) => text.includes(scope))
  }),
  guards('revokeApiKey takes a scope in another case for the scope', isActiveWith, (other, scope, now) => {
    return isActive(other, now) && other.scopes.some((text) => text.toLowerCase() === scope.toLowerCase())
  }),
  guards('revokeApiKey looks at the first scope of others only', isActiveWith, (other, scope, now) => {
    return isActive(other, now) && other.scopes[0] === scope
  }),
  guards('revokeApiKey looks at the first scope of the key only', (key, scope, now) => {
    return isActive(key, now) && key.scopes[0] === scope
  }, isActiveWith),
  guards('revokeApiKey refuses a key without the scope', (key, _scope, now) => isActive(key, now), isActiveWith),
  guards('revokeApiKey refuses an expired key with the scope', (key, scope) => {
    return key.revokedAt === null && key.scopes.includes(scope)
  }, isActiveWith),
  guards('revokeApiKey refuses a key that is revoked already', (key, scope, now) => {
    return !isEnded(key, now) && key.scopes.includes(scope)
  }, isActiveWith),
  guards('revokeApiKey judges others by the real clock', isActiveWith, (other, scope) => {
    return isActiveWith(other, scope, new Date().toISOString())
  }),
  guards('revokeApiKey judges the key by the real clock', (key, scope) => {
    return isActiveWith(key, scope, new Date().toISOString())
  }, isActiveWith),
  guards('revokeApiKey counts a key that expires in that moment', isActiveWith, (other, scope, now) => {
    return isActiveWith(other, scope, now) || (other.expiresAt === now && other.revokedAt === null)
  }),
  guards('revokeApiKey counts keys without an end only', isActiveWith, (other, scope, now) => {
    return isActiveWith(other, scope, now) && other.expiresAt === null
  }),
  guards('revokeApiKey counts other keys with any scope', isActiveWith, (other, _scope, now) => isActive(other, now)),
  guards('revokeApiKey ignores keepOneWith', () => false, isActiveWith),
  guards('revokeApiKey guards the scope admin only', (key, scope, now) => {
    return scope === 'admin' && isActiveWith(key, scope, now)
  }, isActiveWith),
  plant('revokeApiKey keeps one key with each scope when none is given', class extends PlainStore {
    override requireAnother (...[state, key, scopes, now]: Required) {
      super.requireAnother(state, key, scopes.length === 0 ? key.scopes.slice(0, 1) : scopes, now)
    }
  }),
  keepsOther('revokeApiKey counts keys with one of several scopes', (scopes, own) =>
    scopes.some((scope) => own.includes(scope))),
  keepsOther('revokeApiKey compares the first of several scopes only', ([first = ''], own) => own.includes(first)),
  keepsOther('revokeApiKey compares the last of several scopes only', (scopes, own) =>
    own.includes(scopes.at(-1) ?? '')),
  keepsOther('revokeApiKey counts keys with several scopes in their order only', (scopes, own) =>
    own.join(' ').includes(scopes.join(' '))),
  keepsOther('revokeApiKey counts keys with exactly the scopes only', (scopes, own) =>
    own.length === scopes.length && scopes.every((scope) => own.includes(scope))),
  plant('revokeApiKey is content with keys that have the scopes together', class extends PlainStore {
    override requireAnother (...[state, key, scopes, now]: Required) {
      for (const scope of key.scopes.filter((each) => scopes.includes(each))) {
        super.requireAnother(state, key, [scope], now)
      }
    }
  }),
  plant('revokeApiKey guards keys with one of several scopes', class extends PlainStore {
    override requireAnother (...[state, key, scopes, now]: Required) {
      for (const scope of scopes) super.requireAnother(state, key, [scope], now)
    }
  }),
  plant('revokeApiKey looks at a hundred other keys only', class extends PlainStore {
    override requireAnother (...[state, key, scopes, now]: Required) {
      const copy = state.copy()
      copy.apiKeys = new Map([...copy.apiKeys].slice(0, 100))
      super.requireAnother(copy, key, scopes, now)
    }
  }),
  plant('revokeApiKey revokes the key that it refuses to revoke', class extends PlainStore {
    override requireAnother (...given: Required) {
      const [state, key, , revokedAt] = given
      try {
        super.requireAnother(...given)
      } catch (error) {
        this.putKey(state, { ...key, revokedAt })
        throw error
      }
    }
  }),
  plant('revokeApiKey revokes again', class extends PlainStore {
    override applyRevocation (...[state, key, revokedAt]: Applied) {
      const { changed } = super.applyRevocation(state, key, revokedAt)
      const again = this.keepKey({ ...key, revokedAt })
      this.putKey(state, again)
      return { key: this.giveKey(again), changed }
    }
  }),
  plant('revokeApiKey gives the second time for a revoked key', class extends PlainStore {
    override applyRevocation (...given: Applied) {
      const { key, changed } = super.applyRevocation(...given)
      return { key: { ...key, revokedAt: given[2] }, changed }
    }
  }),
  plant('revokeApiKey keeps the earlier of two times', class extends PlainStore {
    override applyRevocation (...[state, key, revokedAt]: Applied) {
      const result = super.applyRevocation(state, key, revokedAt)
      if (key.revokedAt === null || key.revokedAt <= revokedAt) return result
      const earlier = this.keepKey({ ...key, revokedAt })
      this.putKey(state, earlier)
      return { key: this.giveKey(earlier), changed: false }
    }
  }),
  plant('revokeApiKey says changed for a revoked key', class extends PlainStore {
    override applyRevocation (...given: Applied) {
      return { ...super.applyRevocation(...given), changed: true }
    }
  }),
  plant('revokeApiKey gives null for a revoked key', class extends PlainStore {
    override async revokeApiKey (...given: Revocation) {
      const revocation = await super.revokeApiKey(...given)
      return revocation?.changed === false ? null : revocation
    }
  }),
  plant('revokeApiKey throws for an unknown key', class extends PlainStore {
    override async revokeApiKey (...given: Revocation) {
      const revocation = await super.revokeApiKey(...given)
      if (revocation === null) throw new StorageError('fault', 'no such key')
      return revocation
    }
  }),
  plant('revokeApiKey refuses an unknown key as the last one', class extends PlainStore {
    override async revokeApiKey (...given: Revocation) {
      const revocation = await super.revokeApiKey(...given)
      const isGuarded = given[2].keepOneWith.length > 0
      if (revocation === null && isGuarded) throw new StorageError('last_admin_key', 'no other key')
      return revocation
    }
  }),
  plant('revokeApiKey gives the key before it', class extends PlainStore {
    override applyRevocation (...given: Applied) {
      const { changed } = super.applyRevocation(...given)
      return { key: this.giveKey(given[1]), changed }
    }
  }),
  plant('revokeApiKey deletes the key', class extends PlainStore {
    override applyRevocation (...given: Applied) {
      const revocation = super.applyRevocation(...given)
      given[0].apiKeys.delete(given[1].id)
      return revocation
    }
  }),
  revokes('revokeApiKey ends the key too', ({ revokedAt }) => ({ expiresAt: revokedAt })),
  revokes('revokeApiKey takes the scopes away', () => ({ scopes: [] })),
  revokes('revokeApiKey sets the real time', () => ({ revokedAt: new Date().toISOString() })),
  revokes('revokeApiKey forgets when the key was used', () => ({ lastUsedAt: null })),
  plant('revokeApiKey revokes the successors too', class extends PlainStore {
    override applyRevocation (...given: Applied) {
      const [state, { id }, revokedAt] = given
      for (const key of [...state.apiKeys.values()]) this.follow(state, key, id, revokedAt)
      return super.applyRevocation(...given)
    }

    follow (state: State, key: ApiKeyRecord, id: string, revokedAt: string) {
      if (key.rotatedFrom === id && key.revokedAt === null) this.putKey(state, { ...key, revokedAt })
    }
  })
]
