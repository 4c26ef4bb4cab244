import fc from 'fast-check'

/** How many connections a history has. */
export const CONNECTIONS = 3

const on = fc.nat(CONNECTIONS - 1)
const at = fc.integer({ min: 0, max: 9999 })
const count = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 500, max: 3000 }))
const isolation = fc.constantFrom('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
const how = fc.constantFrom('COMMIT' as const, 'COMMIT' as const, 'ROLLBACK' as const)
const order = fc.constantFrom('asc' as const, 'desc' as const)
/** Large tenants, and one that never has blocks of its own. */
export const TENANTS = ['large', 'larger', 'small']
const tenant = fc.constantFrom(undefined, ...TENANTS)
const kind = <Kind extends string>(name: Kind) => fc.constant(name)
const range = { from: at, to: at, nth: fc.integer({ min: 1, max: 10 }) }

const step = fc.oneof(
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
)

/** One step of a history, on one of several connections, each of which may have a transaction open. */
export type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

/** A history, as a list of steps. */
export const history: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 20, maxLength: 60, size: 'max' })
