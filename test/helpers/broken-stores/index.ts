import type { Storage } from '../../../lib/core/storage.ts'
import { brokenApiKeys } from './api-keys.ts'
import type { Is, Mistake } from './mistakes.ts'
import { emptyState } from './state.ts'
import { brokenCreations } from './user-creation.ts'
import { brokenList } from './user-list.ts'
import { brokenUsers } from './users.ts'

/** A plain store of arrays and loops with one mistake planted; with `null` it is right. */
export function brokenStore (mistake: Mistake | null): Storage {
  const is: Is = (...mistakes) => mistakes.some((each) => each === mistake)
  const state = emptyState(is)

  return {
    name: 'broken',
    supports: { transactions: false },
    joinTransaction () { throw new TypeError('no transactions') },
    async check () {},

    async migrate (requirements) {
      for (const name of requirements?.filterable ?? []) state.filterable.add(name)
      if (state.migrations++ === 0) return
      if (is('migrate throws when called twice')) throw new Error('table already exists')
      if (is('migrate deletes everything')) [state.users, state.apiKeys] = [[], []]
    },

    async close () {
      if (state.closings++ > 0 && is('close throws when called twice')) throw new Error('already closed')
    },

    ...brokenCreations(state),
    ...brokenUsers(state),
    ...brokenList(state),
    ...brokenApiKeys(state)
  }
}
