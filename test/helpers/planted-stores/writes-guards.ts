import type { UserRecord, VersionGuard } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'

type Checked = Parameters<PlainStore['checkUpdate']>

/** A mistake in the check of a guard. */
function guarded (title: string, change: (guard: VersionGuard) => VersionGuard): Mistake {
  return plant(title, class extends PlainStore {
    override requireGuard (guard: VersionGuard, user: UserRecord) {
      super.requireGuard(change(guard), user)
    }
  })
}

export const writesGuards: Mistake[] = [
  guarded('an empty ifVersion stands for any version', (guard) => guard.ifVersion?.length === 0
    ? { ...guard, ifVersion: null }
    : guard),
  guarded('the first of ifVersion counts only', (guard) => ({
    ...guard, ifVersion: guard.ifVersion?.slice(0, 1) ?? null
  })),
  guarded('the first of unlessVersion counts only', (guard) => ({
    ...guard, unlessVersion: guard.unlessVersion.slice(0, 1)
  })),
  guarded('unlessVersion is ignored beside an ifVersion', (guard) => guard.ifVersion === null
    ? guard
    : { ...guard, unlessVersion: [] }),
  guarded('unlessVersion is ignored', (guard) => ({ ...guard, unlessVersion: [] })),
  plant('a version above the ones of ifVersion is refused only', class extends PlainStore {
    override requireGuard (guard: VersionGuard, user: UserRecord) {
      if (guard.ifVersion?.some((version) => version >= user.version) !== true) super.requireGuard(guard, user)
    }
  }),
  plant('updateUser compares values before the guard', class extends PlainStore {
    override checkUpdate (...given: Checked) {
      const [state, id, changes] = given
      const row = this.find(state.users, id)
      return row !== null && this.isStored(row, changes) ? row : super.checkUpdate(...given)
    }
  })
]
