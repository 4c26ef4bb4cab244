// Mistakes of revocations that take the successors of a key with it.
import type { ApiKeyRecord, NewEvent } from '../../../lib/storage/storage.ts'
import { LoggedStore, plantLogged } from './logged-store.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Applied = Parameters<PlainStore['applyChain']>
type Outside = Parameters<PlainStore['requireOutside']>

/** A mistake in the keys that go. */
function takes (title: string, chainOf: (chain: ApiKeyRecord[], all: ApiKeyRecord[]) => ApiKeyRecord[]): Mistake {
  return plant(title, class extends PlainStore {
    override chainOf (state: State, key: ApiKeyRecord) {
      return chainOf(super.chainOf(state, key), [...state.apiKeys.values()])
    }
  })
}

/** A mistake in which keys the guard looks at: those that go, and those beside them. */
function guards (title: string, going: (chain: readonly ApiKeyRecord[]) => readonly ApiKeyRecord[]): Mistake {
  return plant(title, class extends PlainStore {
    override requireOutside (...[state, chain, scopes, now]: Outside) {
      super.requireOutside(state, going(chain), scopes, now)
    }
  })
}

export const apiKeysSuccessors: Mistake[] = [
  takes('with successors, only the key itself goes', ([key]) => key === undefined ? [] : [key]),
  takes('with successors, only those of the first rotation go', ([key, ...others]) =>
    key === undefined ? [] : [key, ...others.filter(({ rotatedFrom }) => rotatedFrom === key.id)]),
  takes('with successors, one successor of each key goes', (chain) => chain.filter(({ id, rotatedFrom }) =>
    chain.find((other) => other.rotatedFrom === rotatedFrom)?.id === id)),
  takes('with successors, those behind a revoked one stay', (chain) => chain.filter(({ rotatedFrom }) =>
    chain.find(({ id }) => id === rotatedFrom)?.revokedAt === undefined ||
      chain.find(({ id }) => id === rotatedFrom)?.revokedAt === null)),
  takes('with successors, those of a key that is revoked already stay', ([key, ...others]) =>
    key === undefined ? [] : [key, ...key.revokedAt === null ? others : []]),
  takes('with successors, the predecessor goes too', (chain, all) => [
    ...chain, ...all.filter(({ id }) => id === chain[0]?.rotatedFrom)
  ]),
  plant('with successors, those that were revoked before are revoked again', class extends PlainStore {
    override applyChain (...[state, chain, revokedAt]: Applied) {
      return super.applyChain(state, chain.map((key) => ({ ...key, revokedAt: null })), revokedAt)
    }
  }),
  plant('with successors, none is named', class extends PlainStore {
    override applyChain (...given: Applied) {
      const revocation = super.applyChain(...given)
      return revocation === null ? null : { ...revocation, successors: [] }
    }
  }),
  guards('with successors, a successor counts as the key that stays', ([key]) => key === undefined ? [] : [key]),
  guards('with successors, an active one of a revoked key may be the last', (chain) =>
    chain[0]?.revokedAt === null ? chain : []),
  plant('with successors, a refusal has revoked some', class extends PlainStore {
    override requireOutside (...[state, chain, scopes, now]: Outside) {
      try {
        super.requireOutside(state, chain, scopes, now)
      } catch (error) {
        for (const key of chain.slice(1)) this.applyRevocation(state, key, now)
        throw error
      }
    }
  }),
  plant('with successors, one that is made meanwhile stays', class extends PlainStore {
    override async revokeChain (id: string, revokedAt: string, scopes: readonly string[]) {
      const chain = await this.read((state) => this.checkChain(state, id, revokedAt, scopes))
      await this.turn()
      const ids = new Set(chain.map((key) => key.id))
      return await this.write('', (state) => [...state.apiKeys.values()].filter((key) => ids.has(key.id)),
        (state, still) => this.applyChain(state, still, revokedAt))
    }
  }),
  plantLogged('with successors, one event is for all', class extends LoggedStore {
    override successorEvent (event: NewEvent) {
      return event
    }
  }),
  plantLogged('with successors, the events of theirs are not recorded', class extends LoggedStore {
    override revocationsOf (...given: Parameters<LoggedStore['revocationsOf']>) {
      return super.revocationsOf(...given).slice(0, 1)
    }
  })
]
