import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { ApiKeyRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Rotation = Parameters<PlainStore['rotateApiKey']>
type Checked = Parameters<PlainStore['checkRotation']>
type Applied = Parameters<PlainStore['applyRotation']>

/** A mistake in when the old key ends. */
function ends (title: string, end: (own: string | null, expiresAt: string) => string | null): Mistake {
  return plant(title, class extends PlainStore {
    override endAfterRotation (own: string | null, expiresAt: string) {
      return end(own, expiresAt)
    }
  })
}

/** A mistake in which keys may be rotated. */
function rotates (title: string, isActive: (key: ApiKeyRecord, now: string) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override isActive (key: ApiKeyRecord, now: string) {
      return isActive(key, now)
    }
  })
}

/** A mistake in the old key. */
function leaves (title: string, change: (rotated: ApiKeyRecord, old: ApiKeyRecord) => object): Mistake {
  return plant(title, class extends PlainStore {
    override applyRotation (...given: Applied) {
      const [state, old] = given
      const rotated = super.applyRotation(...given)
      const changed = { ...rotated, ...change(rotated, old) }
      this.putKey(state, this.keepKey(changed))
      return changed
    }
  })
}

/** A mistake in what a rotation that throws leaves behind. */
function fails (title: string, leave: (state: State, old: ApiKeyRecord, given: Checked) => void): Mistake {
  return plant(title, class extends PlainStore {
    override checkRotation (...given: Checked) {
      const [state, id] = given
      try {
        return super.checkRotation(...given)
      } catch (error) {
        const old = state.apiKeys.get(id)
        if (old !== undefined) leave(state, old, given)
        throw error
      }
    }
  })
}

function isBefore (time: string, end: string | null): boolean {
  return end === null || time < end
}

export const apiKeysRotate: Mistake[] = [
  ends('rotateApiKey makes a key live longer', (_own, expiresAt) => expiresAt),
  ends('rotateApiKey ends a key immediately that has no end', (own, expiresAt) => {
    return new Date(Math.min(own === null ? 0 : Date.parse(own), Date.parse(expiresAt))).toISOString()
  }),
  ends('rotateApiKey leaves a key without an end as it is', (own, expiresAt) => {
    return own === null ? null : own < expiresAt ? own : expiresAt
  }),
  ends('rotateApiKey leaves a key with an end as it is', (own, expiresAt) => own ?? expiresAt),
  ends('rotateApiKey takes the later of two ends', (own, expiresAt) => {
    return own !== null && own > expiresAt ? own : expiresAt
  }),
  ends('rotateApiKey cuts the end to seconds', (own, expiresAt) => {
    return own !== null && own < expiresAt ? own : expiresAt.replace(/\.\d+Z/, '.000Z')
  }),
  rotates('rotateApiKey rotates a revoked key', ({ expiresAt }, now) => isBefore(now, expiresAt)),
  rotates('rotateApiKey rotates an expired key', ({ revokedAt }) => revokedAt === null),
  rotates('rotateApiKey rotates a key in the moment of its expiry', ({ revokedAt, expiresAt }, now) => {
    return revokedAt === null && (expiresAt === null || now <= expiresAt)
  }),
  rotates('rotateApiKey rotates a key of the same second', ({ revokedAt, expiresAt }, now) => {
    return revokedAt === null && (expiresAt === null || now.slice(0, 19) <= expiresAt.slice(0, 19))
  }),
  rotates('rotateApiKey rotates a key whose revocation is later than now', ({ revokedAt, expiresAt }, now) => {
    return isBefore(now, revokedAt) && isBefore(now, expiresAt)
  }),
  rotates('rotateApiKey judges by the real clock', ({ revokedAt, expiresAt }) => {
    return revokedAt === null && isBefore(new Date().toISOString(), expiresAt)
  }),
  plant('rotateApiKey rotates a key again whose rotation is later than now', class extends PlainStore {
    override isRotatable (...given: Parameters<PlainStore['isActive']>) {
      return this.isActive(...given)
    }
  }),
  leaves('rotateApiKey revokes the old key', ({ expiresAt }) => ({ revokedAt: expiresAt })),
  leaves('rotateApiKey forgets when the old key was used', () => ({ lastUsedAt: null })),
  leaves('rotateApiKey takes the scopes of the old key away', () => ({ scopes: [] })),
  leaves('rotateApiKey gives the old key another start', ({ id, start }, old) => ({
    start: old.expiresAt === null ? start : id
  })),
  fails('rotateApiKey lets the old key expire when it faults', (state, old, [, , , now]) => {
    if (old.revokedAt === null && isBefore(now, old.expiresAt)) state.apiKeys.set(old.id, { ...old, expiresAt: now })
  }),
  fails('rotateApiKey leaves the successor of an inactive key', (state, old, [, , successor, now]) => {
    const isInactive = old.revokedAt !== null || !isBefore(now, old.expiresAt)
    if (isInactive && !state.apiKeys.has(successor.id)) state.apiKeys.set(successor.id, successor)
  }),
  plant('rotateApiKey gives the successor', class extends PlainStore {
    override applyRotation (...given: Applied) {
      super.applyRotation(...given)
      return this.giveKey(given[2])
    }
  }),
  plant('rotateApiKey gives the old key before it', class extends PlainStore {
    override applyRotation (...given: Applied) {
      super.applyRotation(...given)
      return this.giveKey(given[1])
    }
  }),
  plant('rotateApiKey adds the successor of an unknown key', class extends PlainStore {
    override checkRotation (...given: Checked) {
      const old = super.checkRotation(...given)
      if (old === null) this.putKey(given[0], given[2])
      return old
    }
  }),
  plant('rotateApiKey refuses an unknown key as inactive', class extends PlainStore {
    override async rotateApiKey (...given: Rotation) {
      const old = await super.rotateApiKey(...given)
      if (old === null) throw new StorageError('api_key_inactive', 'the key is not active')
      return old
    }
  }),
  plant('rotateApiKey gives null for an inactive key', class extends PlainStore {
    override async rotateApiKey (...given: Rotation) {
      return await super.rotateApiKey(...given).catch((error: unknown) => {
        if (error instanceof StorageError && error.code === 'api_key_inactive') return null
        throw error
      })
    }
  }),
  plant('rotateApiKey replaces a key that has the id of the successor', class extends PlainStore {
    override checkRotation (...[state, id, successor, now]: Checked) {
      const isTaken = state.apiKeys.has(successor.id) && state.apiKeys.get(successor.id)?.start !== successor.start
      return super.checkRotation(state, id, isTaken ? { ...successor, id: '' } : successor, now)
    }
  }),
  plant('rotateApiKey accepts a start that another key has', class extends PlainStore {
    override checkRotation (...[state, id, successor, now]: Checked) {
      return super.checkRotation(state, id, { ...successor, start: '' }, now)
    }
  }),
  plant('rotateApiKey accepts the start of the old key', class extends PlainStore {
    override checkRotation (...[state, id, successor, now]: Checked) {
      const isOwn = state.apiKeys.get(id)?.start === successor.start
      return super.checkRotation(state, id, isOwn ? { ...successor, start: '' } : successor, now)
    }
  }),
  plant('rotateApiKey accepts the id of the old key', class extends PlainStore {
    override checkRotation (...[state, id, successor, now]: Checked) {
      const isOwn = id === successor.id
      return super.checkRotation(state, id, isOwn ? { ...successor, id: '' } : successor, now)
    }
  }),
  plant('rotateApiKey gives the successor the lifetime of nothing', class extends PlainStore {
    override applyRotation (...[state, old, successor, expiresAt]: Applied) {
      return super.applyRotation(state, old, { ...successor, lifetime: null }, expiresAt)
    }
  }),
  plant('rotateApiKey gives the successor the name of the old key', class extends PlainStore {
    override applyRotation (...[state, old, successor, expiresAt]: Applied) {
      return super.applyRotation(state, old, { ...successor, name: old.name }, expiresAt)
    }
  }),
  plant('rotateApiKey does not add the successor', class extends PlainStore {
    override applyRotation (...given: Applied) {
      const rotated = super.applyRotation(...given)
      given[0].apiKeys.delete(given[2].id)
      return rotated
    }
  }),
  plant('rotateApiKey deletes the old key', class extends PlainStore {
    override applyRotation (...given: Applied) {
      const rotated = super.applyRotation(...given)
      given[0].apiKeys.delete(rotated.id)
      return rotated
    }
  })
]
