import fc from 'fast-check'

/** How many connections a history has. */
export const CONNECTIONS = 3

/** One step of a history, on one of several connections, each of which may have a transaction open. */
export type Step =
  | { kind: 'begin', on: number, isolation: string }
  | { kind: 'end', on: number, how: 'COMMIT' | 'ROLLBACK' }
  | { kind: 'insert', on: number, count: number, at: number }
  | { kind: 'append', on: number, count: number }
  | { kind: 'delete', on: number, from: number, to: number, nth: number }
  | { kind: 'changeIds', on: number, at: number }
  | { kind: 'changeTenants', on: number, at: number }
  | { kind: 'insertUndone', on: number, count: number, at: number }
  | { kind: 'truncate', on: number }
  | { kind: 'compact' }
  | { kind: 'rebuild' }
  | { kind: 'check', on: number, order: 'asc' | 'desc', at: number, limit: number, tenant: string | undefined }

const on = fc.nat(CONNECTIONS - 1)
const at = fc.integer({ min: 0, max: 9999 })
const count = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 500, max: 3000 }))
const isolation = fc.constantFrom('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
const how = fc.constantFrom('COMMIT' as const, 'COMMIT' as const, 'ROLLBACK' as const)
const order = fc.constantFrom('asc' as const, 'desc' as const)
/** Large tenants, and one that never has blocks of its own. */
export const TENANTS = ['large', 'larger', 'small']
const tenant = fc.constantFrom(undefined, ...TENANTS)
const kind = <Kind extends Step['kind']>(name: Kind) => fc.constant(name)
const range = { from: at, to: at, nth: fc.integer({ min: 1, max: 10 }) }

/** A history, as a list of steps. */
export const history: fc.Arbitrary<Step[]> = fc.array(fc.oneof<Array<fc.WeightedArbitrary<Step>>>(
  { weight: 3, arbitrary: fc.record({ kind: kind('begin'), on, isolation }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('end'), on, how }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('insert'), on, count, at }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('append'), on, count }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('delete'), on, ...range }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('changeIds'), on, at }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('changeTenants'), on, at }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('insertUndone'), on, count, at }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('truncate'), on }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('compact') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('rebuild') }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: kind('check'), on, order, at, limit: fc.integer({ min: 1, max: 40 }), tenant })
  }
), { minLength: 20, maxLength: 60, size: 'max' })
