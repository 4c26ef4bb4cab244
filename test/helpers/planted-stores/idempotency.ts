import type { Idempotency } from '../../../lib/storage/storage.ts'
import { requireSameRequest } from '../../../lib/storage/storage-rules.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { IdempotencyRow, State, UserRow } from './state.ts'

type Creation = Parameters<PlainStore['createUser']>
type Check = Parameters<PlainStore['checkCreation']>

/** A mistake in when a kept key counts. */
function live (title: string, isLive: (row: IdempotencyRow, now: string) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override isLive (row: IdempotencyRow, now: string) {
      return isLive(row, now)
    }
  })
}

/** A mistake in the key or fingerprint that is kept and looked for. */
function takes (title: string, change: (idempotency: Idempotency) => Idempotency): Mistake {
  return plant(title, class extends PlainStore {
    override async createUser (...[user, keys, idempotency]: Creation) {
      return await super.createUser(user, keys, idempotency === null ? null : change(idempotency))
    }
  })
}

function prunes (title: string, prune: (state: State, now: string) => void): Mistake {
  return plant(title, class extends PlainStore {
    override async pruneIdempotency (now: string) {
      await this.write('pruneIdempotency', () => null, (state) => prune(state, now))
    }
  })
}

function pruneWhere (title: string, isPruned: (row: IdempotencyRow, now: string) => boolean): Mistake {
  return prunes(title, ({ idempotency }, now) => {
    for (const row of [...idempotency.values()]) if (isPruned(row, now)) idempotency.delete(row.key)
  })
}

export const idempotency: Mistake[] = [
  plant('an idempotency key is not kept', class extends PlainStore {
    override putIdempotency () {}
  }),
  plant('a replay gives the current user', class extends PlainStore {
    override replay (state: State, first: IdempotencyRow) {
      return { user: this.giveUser(state.users.get(first.user.id)?.user ?? first.user), replayed: true }
    }
  }),
  plant('a replay gives the user of the second request', class extends PlainStore {
    override replay (_state: State, _first: IdempotencyRow, again: UserRow) {
      return { user: this.giveUser(again.user), replayed: true }
    }
  }),
  plant('a replay gives the second request under the first id', class extends PlainStore {
    override replay (_state: State, { user: { id } }: IdempotencyRow, again: UserRow) {
      return { user: this.giveUser({ ...again.user, id }), replayed: true }
    }
  }),
  plant('a replay does not say so', class extends PlainStore {
    override replay (...given: Parameters<PlainStore['replay']>) {
      return { ...super.replay(...given), replayed: false }
    }
  }),
  plant('a replay loses the order of members', class extends PlainStore {
    override replay (...given: Parameters<PlainStore['replay']>) {
      const { user, replayed } = super.replay(...given)
      return { user: { ...user, fields: Object.fromEntries(Object.entries(user.fields).toSorted()) }, replayed }
    }
  }),
  plant('a replay loses the fields', class extends PlainStore {
    override replay (...given: Parameters<PlainStore['replay']>) {
      const { user, replayed } = super.replay(...given)
      return { user: { ...user, fields: {} }, replayed }
    }
  }),
  plant('a replay counts the version', class extends PlainStore {
    override replay (...given: Parameters<PlainStore['replay']>) {
      const row = given[0].users.get(given[1].user.id)
      if (row !== undefined) row.user.version++
      return super.replay(...given)
    }
  }),
  plant('a replay writes the second user over the first', class extends PlainStore {
    override replay (...given: Parameters<PlainStore['replay']>) {
      const [{ users }, { user: { id } }, again] = given
      const row = users.get(id)
      if (row !== undefined) users.set(id, { ...row, user: { ...row.user, name: again.user.name } })
      return super.replay(...given)
    }
  }),
  plant('a replay adds the second user too', class extends PlainStore {
    override replay (...given: Parameters<PlainStore['replay']>) {
      const [state, , again] = given
      if (!state.users.has(again.user.id)) this.putUser(state, again)
      return super.replay(...given)
    }
  }),
  plant('a replay is refused as email_taken', class extends PlainStore {
    override checkCreation (...given: Check) {
      this.requireFreeEmail(given[0], given[1].keys.emailKey, given[1].user.id)
      return super.checkCreation(...given)
    }
  }),
  plant('a replay is refused as a fault for its id', class extends PlainStore {
    override checkCreation (...given: Check) {
      this.requireFreeId(given[0], given[1].user.id)
      return super.checkCreation(...given)
    }
  }),
  plant('a replay is found for the same e-mail key only', class extends PlainStore {
    override checkCreation (...[state, row, idempotency]: Check) {
      const first = super.checkCreation(state, row, idempotency)
      if (first === null || first.user.email === row.user.email) return first
      return super.checkCreation(state, row, null)
    }
  }),
  plant('a replay makes the key live longer', class extends PlainStore {
    override firstCreation (state: State, idempotency: Idempotency) {
      const row = super.firstCreation(state, idempotency)
      if (row !== null) state.idempotency.set(row.key, { ...row, expiresAt: idempotency.expiresAt })
      return row
    }
  }),
  plant('a replay uses the key up', class extends PlainStore {
    override replay (...given: Parameters<PlainStore['replay']>) {
      given[0].idempotency.delete(given[1].key)
      return super.replay(...given)
    }
  }),
  plant('a reused key is refused as a fault', class extends PlainStore {
    override firstCreation (state: State, idempotency: Idempotency) {
      const row = this.find(state.idempotency, idempotency.key)
      if (row !== null && row.fingerprint !== idempotency.fingerprint) this.requireFreeId(state, row.user.id)
      return super.firstCreation(state, idempotency)
    }
  }),
  takes('the fingerprint is ignored', (given) => ({ ...given, fingerprint: '' })),
  takes('fingerprints are compared in lower case', (given) => ({
    ...given, fingerprint: given.fingerprint.toLowerCase()
  })),
  takes('fingerprints are compared by their first 32 characters', (given) => ({
    ...given, fingerprint: given.fingerprint.slice(0, 32)
  })),
  takes('idempotency keys are compared in lower case', (given) => ({ ...given, key: given.key.toLowerCase() })),
  takes('idempotency keys are compared by their first 32 characters', (given) => ({
    ...given, key: given.key.slice(0, 32)
  })),
  takes('idempotency keys are compared without hyphens and underscores', (given) => ({
    ...given, key: given.key.replace(/[-_]/g, '')
  })),
  takes('the expiry is cut to seconds', (given) => ({
    ...given, expiresAt: given.expiresAt.replace(/\.\d+Z/, '.000Z')
  })),
  takes('an idempotency key lives for a day whatever its expiry', (given) => ({
    ...given, expiresAt: new Date(Date.parse(given.now) + 86_400_000).toISOString()
  })),
  plant('the fingerprint of an expired key is compared', class extends PlainStore {
    override firstCreation (state: State, idempotency: Idempotency) {
      const row = this.find(state.idempotency, idempotency.key)
      if (row !== null) requireSameRequest(row.fingerprint, idempotency)
      return super.firstCreation(state, idempotency)
    }
  }),
  plant('an expired key with another fingerprint is replayed', class extends PlainStore {
    override firstCreation (state: State, idempotency: Idempotency) {
      const row = this.find(state.idempotency, idempotency.key)
      return row?.fingerprint === idempotency.fingerprint ? row : super.firstCreation(state, idempotency)
    }
  }),
  plant('creations without an idempotency key share one', class extends PlainStore {
    override async createUser (...[user, keys, idempotency]: Creation) {
      const { createdAt } = user
      const expiresAt = '9999-12-31T23:59:59.999Z'
      const none = { key: 'null', fingerprint: 'null', now: createdAt, expiresAt, note: null }
      return await super.createUser(user, keys, idempotency ?? none)
    }
  }),
  live('the expiry is judged by the real clock', (row) => row.expiresAt > new Date().toISOString()),
  live('a key counts in the moment of its expiry', (row, now) => row.expiresAt >= now),
  live('the expiry is compared by day', (row, now) => row.expiresAt.slice(0, 10) >= now.slice(0, 10)),
  live('the expiry is compared by second', (row, now) => row.expiresAt.slice(0, 19) >= now.slice(0, 19)),
  live('a key counts until a minute after its expiry', (row, now) => {
    return Date.parse(row.expiresAt) + 60_000 > Date.parse(now)
  }),
  plant('a failed creation leaves its key behind', class extends PlainStore {
    override checkCreation (...given: Check) {
      const [state, row, idempotency] = given
      try {
        return super.checkCreation(...given)
      } catch (error) {
        const isNew = idempotency !== null && !state.idempotency.has(idempotency.key)
        if (isNew) this.putIdempotency(state, row, idempotency)
        throw error
      }
    }
  }),
  plant('a reused key takes the new fingerprint', class extends PlainStore {
    override firstCreation (state: State, idempotency: Idempotency) {
      const row = this.find(state.idempotency, idempotency.key)
      const { fingerprint } = idempotency
      if (row !== null && this.isLive(row, idempotency.now)) state.idempotency.set(row.key, { ...row, fingerprint })
      if (row !== null && this.isLive(row, idempotency.now)) requireSameRequest(row.fingerprint, idempotency)
      return super.firstCreation(state, idempotency)
    }
  }),
  plant('an expired key keeps its first user', class extends PlainStore {
    override putIdempotency (...given: Parameters<PlainStore['putIdempotency']>) {
      const [state, , idempotency] = given
      const first = state.idempotency.get(idempotency.key)
      if (first === undefined) return super.putIdempotency(...given)
      state.idempotency.set(first.key, { ...idempotency, user: first.user })
    }
  }),
  pruneWhere('pruneIdempotency deletes all keys', () => true),
  pruneWhere('pruneIdempotency judges by the real clock', (row) => row.expiresAt <= new Date().toISOString()),
  pruneWhere('pruneIdempotency deletes what expires on the same day', (row, now) => {
    return row.expiresAt.slice(0, 10) <= now.slice(0, 10)
  }),
  pruneWhere('pruneIdempotency deletes what was made before now', (row, now) => row.now < now),
  prunes('pruneIdempotency deletes the users of expired keys', ({ idempotency, users }, now) => {
    for (const { key, user, expiresAt } of [...idempotency.values()]) {
      if (expiresAt > now) continue
      users.delete(user.id)
      idempotency.delete(key)
    }
  })
]
