import type { CollectionName, Outcome, RowWrite, Storage, Unit } from '../../../lib/storage/storage.ts'
import {
  ALL, blindly, isPresent, type Mistake, OK, present, right, store, turn, units, untyped, writes
} from './wrappers.ts'

const PARTS = { users: 'idempotency', apiKeys: 'keyUses', webhooks: 'deliveries' } as const
const partsOf = (name: CollectionName) =>
  name === 'users' || name === 'apiKeys' || name === 'webhooks' ? PARTS[name] : null
const last = ({ put }: RowWrite): number => Number(put === null)

/** Compares, waits, and writes. */
async function inTwoSteps (storage: Storage, unit: Unit): Promise<Outcome> {
  for (const [at, write] of unit.writes.entries()) {
    if (!isPresent(await present(storage, write), write)) return { code: 'changed', at }
  }
  await turn()
  return blindly(storage, unit)
}

/** Says of what is refused, while others are under way, what it says of the one that is made. */
function grouped (failed: string, name: string): Mistake {
  let running = 0
  return units(failed, name, async (storage, unit) => {
    running++
    await turn()
    const isAlone = running === 1
    const outcome = await right(storage, unit)
    await turn()
    running--
    return outcome.code === 'taken' && !isAlone ? OK : outcome
  })
}

const oneByOne = (failed: string): Mistake =>
  units(failed, 'the writes of a unit are made one after the other', async (storage, unit) => {
    for (const [at, write] of unit.writes.entries()) {
      const outcome = await right(storage, { writes: [write], events: [], rewrites: [] })
      await turn()
      if (outcome.code !== 'ok') return { ...outcome, at }
    }
    return right(storage, { ...unit, writes: [] })
  })

const refused = (failed: string, name: string, change: (outcome: Outcome) => unknown): Mistake =>
  units(failed, name, async (storage, unit) => untyped(change(await right(storage, unit))))

/** Most likely mistakes in how units are made. */
export const commitMistakes: Mistake[] = [
  writes('commit: a row of every collection', 'rows of marks are never taken away', (write) =>
    write.in === 'marks' && write.put === null ? null : write),
  units('commit: a row that is there already', 'what is there is replaced by what is new', (storage, unit) =>
    blindly(storage, unit, (there, write) => write.was === null || isPresent(there, write))),
  units('commit: a user of another moment', 'versions alone are compared', (storage, unit) =>
    blindly(storage, unit, isPresent)),
  units('commit: a row of another tenant', 'tenants are not compared', (storage, unit) =>
    blindly(storage, unit, isPresent)),
  writes('commit: a row gets a tenant', 'a tenant is kept', (write) => write.put === null || write.was === null
    ? write
    : untyped({ ...write, put: { ...write.put, record: { ...write.put.record, tenant: write.was.record.tenant } } })),
  units('commit: a row whose owner is gone', 'owners are not looked for', async (storage, unit) => {
    const outcome = await right(storage, unit)
    return outcome.code === 'changed' && unit.writes[outcome.at]?.put?.of != null ? OK : outcome
  }),
  units('commit: a row takes those with it', 'parts stay', async (storage, unit) => {
    const kept: RowWrite[] = []
    for (const write of unit.writes) {
      const part = write.put === null ? partsOf(write.in) : null
      if (part === null) continue
      const { items } = await storage.list(part, { of: write.was?.record.id ?? '', page: ALL })
      for (const row of items) kept.push(untyped({ in: part, put: { ...row, of: null }, was: null }))
    }
    const outcome = await right(storage, unit)
    if (outcome.code === 'ok' && kept.length > 0) await right(storage, { writes: kept, events: [], rewrites: [] })
    return outcome
  }),
  oneByOne('commit: nothing of a refused unit'),
  units('commit: the writes of a unit are made in their order', 'rows are taken away last', (storage, unit) =>
    right(storage, { ...unit, writes: unit.writes.toSorted((a, b) => last(a) - last(b)) })),
  store('commit: several units of one call', 'all units of a call are one', (storage) => ({
    async commit (all) {
      const outcome = await right(storage, {
        writes: all.flatMap((unit) => unit.writes), events: all.flatMap((unit) => unit.events), rewrites: []
      })
      return all.map(() => outcome)
    }
  })),
  store('commit: many units of one call', 'at most 100 units of a call are made', (storage) => ({
    commit: async (all) => [...await storage.commit(all.slice(0, 100)), ...all.slice(100).map(() => OK)]
  })),
  units('commit: of two units of one call', 'it is compared and written in two steps', inTwoSteps),
  units('commit: a unit without writes', 'a unit without writes is nothing', (storage, unit) =>
    unit.writes.length === 0 ? Promise.resolve(OK) : right(storage, unit)),

  writes('commit: an address is taken', 'addresses are compared without case', (write) => {
    if (write.in !== 'users' || write.put === null) return write
    const emailKey = write.put.keys.emailKey?.toLowerCase() ?? ''
    return { ...write, put: { ...write.put, keys: { ...write.put.keys, emailKey } } }
  }),
  units('commit: a user who gets a tenant', 'who gets a tenant is not compared', async (storage, unit) => {
    const outcome = await right(storage, unit)
    const { put, was } = unit.writes[0] ?? { put: null, was: null }
    return outcome.code === 'taken' && put?.record.tenant !== was?.record.tenant ? OK : outcome
  }),
  refused('commit: a value of a unique field', 'the field has no name', (outcome) =>
    outcome.code === 'taken' && typeof outcome.member === 'object' ? { ...outcome, member: { field: '' } } : outcome),
  refused('commit: the start of a key', 'a start that is taken is a changed row', (outcome) =>
    outcome.code === 'taken' && outcome.member === 'start' ? { code: 'changed', at: outcome.at } : outcome),
  refused('commit: at is the place', 'the place is that of the last write', (outcome) =>
    outcome.code === 'ok' ? outcome : { ...outcome, at: 0 }),

  units('commit: of concurrent units that replace', 'versions are compared before, and not with the write', inTwoSteps),
  units('commit: of concurrent units that take', 'versions are compared before, and not with the removal', inTwoSteps),
  units('commit: of concurrent units that add', 'ids are looked for before, and not with the write', inTwoSteps),
  grouped('commit: of concurrent users with one address', 'a group of creations has one outcome'),
  grouped('commit: of concurrent changes to one address', 'a group of changes has one outcome'),
  grouped('commit: of concurrent users with one value', 'a group of users has one outcome'),
  grouped('commit: of concurrent keys with one start', 'a group of keys has one outcome'),
  units('commit: a row that is added while its owner', 'the owner is looked for before', async (storage, unit) => {
    const [write] = unit.writes
    if (write?.put == null || write.put.of === null || unit.writes.length > 1) return right(storage, unit)
    const owner = write.in === 'keyUses' ? 'apiKeys' : write.in === 'deliveries' ? 'webhooks' : 'users'
    const [there] = await storage.find(owner, [{ id: write.put.of }])
    if (there == null) return { code: 'changed', at: 0 }
    await turn()
    return right(storage, { ...unit, writes: [untyped({ ...write, put: { ...write.put, of: null } })] })
  }),
  oneByOne('commit: units that meet crosswise'),
  writes('commit: a mark that all writers move', 'marks are not kept', (write) => write.in === 'marks' ? null : write),
  units('commit: who reads a row again', 'versions of uses are not compared', (storage, unit) =>
    blindly(storage, unit, (there, write) => write.in === 'keyUses' || isPresent(there, write))),
  units('commit: events are there for the units', 'events are recorded in any case', async (storage, unit) => {
    const outcome = await right(storage, unit)
    if (outcome.code !== 'ok') await right(storage, { writes: [], events: unit.events, rewrites: [] })
    return outcome
  }),
  oneByOne('list: what one unit has moved'),
  units('commit: many concurrent units', 'the events of a call are lost beside others', async (storage, unit) => {
    await turn()
    return right(storage, Number(unit.events[0]?.timestamp.slice(-3, -1)) % 7 === 3 ? { ...unit, events: [] } : unit)
  })
]
