import { type Mistake, plant, withGap } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Creation = Parameters<PlainStore['createUser']>

export const idempotencyDeletions: Mistake[] = [
  plant('a deletion leaves the keys of the user', class extends PlainStore {
    override forgetCreation () {}
  }),
  plant('a deletion deletes the keys of all users', class extends PlainStore {
    override forgetCreation (state: State) {
      state.idempotency.clear()
    }
  }),
  plant('a deletion after an update leaves the keys of the user', class extends PlainStore {
    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      const [state, { user }] = given
      const keys = [...state.idempotency].filter(([, row]) => row.user.id === user.id && row.user.email !== user.email)
      const removed = super.removeUser(...given)
      for (const [key, row] of keys) state.idempotency.set(key, row)
      return removed
    }
  }),
  plant('a deletion that is refused deletes the keys of the user', class extends PlainStore {
    override async deleteUser (...given: Parameters<PlainStore['deleteUser']>) {
      return await super.deleteUser(...given).catch((error: unknown) => {
        this.forgetCreation(this.session.state, given[0])
        throw error
      })
    }
  }),
  plant('an update deletes the keys of the user', class extends PlainStore {
    override applyUpdate (...given: Parameters<PlainStore['applyUpdate']>) {
      this.forgetCreation(given[0], given[1].user.id)
      return super.applyUpdate(...given)
    }
  }),
  plant('a deletion forgets the keys of the user later', class extends PlainStore {
    override async deleteUser (...given: Parameters<PlainStore['deleteUser']>) {
      const { session } = this
      const keys = await this.read(({ idempotency }) => [...idempotency].filter(([, row]) => row.user.id === given[0]))
      const user = await super.deleteUser(...given)
      if (user === null) return null
      for (const [key, row] of keys) session.state.idempotency.set(key, row)
      const later = this.turn().then(() => this.turn())
      later.then(() => this.forgetCreation(session.state, given[0])).catch(() => {})
      return user
    }
  }),
  plant('concurrent creations with one key add two users', class extends withGap('createUser') {
    override addUser (...given: Parameters<PlainStore['addUser']>) {
      this.requireFreeId(given[0], given[1].user.id)
      this.requireFreeEmail(given[0], given[1].keys.emailKey, given[1].user.id)
      return super.addUser(...given)
    }
  }),
  plant('an idempotency key is written after its user', class extends PlainStore {
    override async createUser (...given: Creation) {
      const [user, keys, idempotency] = given
      if (idempotency === null) return await super.createUser(...given)
      const first = await this.write('', (state) => this.firstCreation(state, idempotency), (_state, row) => row)
      if (first !== null) return { user: this.giveUser(first.user), replayed: true }
      const creation = await super.createUser(user, keys, null)
      await this.write('', () => null, (state) => {
        this.putIdempotency(state, { user: creation.user, keys }, idempotency)
      })
      return creation
    }
  }),
  plant('concurrent creations with one key and two fingerprints both succeed', class extends PlainStore {
    override async createUser (...given: Creation) {
      const [user, keys, idempotency] = given
      if (idempotency === null) return await super.createUser(...given)
      const isKnown = await this.read((state) => state.idempotency.has(idempotency.key))
      await this.turn()
      const isKnownNow = await this.read((state) => state.idempotency.has(idempotency.key))
      return await super.createUser(user, keys, isKnownNow && !isKnown ? null : idempotency)
    }
  }),
  plant('pruneIdempotency deletes a key that is used again meanwhile', class extends PlainStore {
    override async pruneIdempotency (now: string) {
      const keys = await this.read((state) => {
        return [...state.idempotency.values()].filter((row) => !this.isLive(row, now)).map(({ key }) => key)
      })
      await this.turn()
      await this.write('', () => null, ({ idempotency }) => {
        for (const key of keys) idempotency.delete(key)
      })
    }
  })
]
