import { StorageError } from '../../../lib/storage/storage-error.ts'
import { isSameRecord } from '../../../lib/storage/selection.ts'
import type { CollectionName, RowWrite, Storage, Unit } from '../../../lib/storage/storage.ts'
import { OWNERS } from '../tables/owners.ts'

type Rows = Pick<Storage, 'commit' | 'find' | 'list'>

const idOf = ({ put, was }: RowWrite): string => put?.record.id ?? was?.record.id ?? ''

/** True if what refuses a write can be seen: the row, one that it needs or that needs it, or an earlier write. */
async function isSeen ({ find, list }: Rows, write: RowWrite, earlier: readonly RowWrite[]): Promise<boolean> {
  const { in: name, put, was } = write
  const needs: Array<[name: CollectionName, id: string]> = []
  const owner = OWNERS[name]
  if (owner !== undefined && put !== null && put.of !== null) needs.push([owner, put.of])
  if (write.in === 'memberships' && write.put !== null) needs.push(['users', write.put.record.member])
  const ids = [idOf(write), ...needs.map(([, id]) => id)]
  if (earlier.some((each) => each.in === 'memberships' || ids.includes(idOf(each)))) return true
  const [row] = await find(name, [{ id: idOf(write) }])
  if (!isSameRecord(row?.record ?? null, was?.record ?? null)) return true
  for (const [of, id] of needs) if ((await find(of, [{ id }]))[0] == null) return true
  if (name !== 'users' || put !== null) return false
  const page = { order: 'asc', limit: 1, from: { offset: 0 } } as const
  return (await list('memberships', { where: { member: 'member', values: [idOf(write)] }, page })).total > 0
}

/**
 * Commits in a transaction of the host's, which may read an older snapshot than it writes. If the transaction can't see
 * why a unit is refused, that is a conflict: after another read the caller would decide the same.
 */
export function throwingUnseen (rows: Rows): Storage['commit'] {
  return async (units: readonly Unit[]) => {
    const outcomes = await rows.commit(units)
    for (const [i, outcome] of outcomes.entries()) {
      const writes = units[i]?.writes ?? []
      const write = outcome.code === 'changed' ? writes[outcome.at] : undefined
      if (write === undefined || outcome.code !== 'changed') continue
      if (await isSeen(rows, write, writes.slice(0, outcome.at))) continue
      throw new StorageError('unavailable', 'another transaction has changed what this one sees as it was before',
        { driverCode: '40001' })
    }
    return outcomes
  }
}
