import type { Fault, FaultReason } from '../core/fault.ts'
import type { Parameter } from '../core/parameters.ts'

/** What a request asks for: the members of users, null: all; and the rest of its parameters. */
interface Selected {
  names: readonly string[] | null
  query: Record<string, unknown>
}

/** The parameter `select`, by which answers have only some members of users. `members`: those there are. */
export function selection (members: readonly string[]) {
  const unknown: FaultReason = {
    code: 'choice', detail: `must name members of users, separated by commas; the members are ${members.join(', ')}`
  }
  const parameter: Parameter = {
    schema: {
      type: 'string',
      minLength: 1,
      description: 'Only these members of users, separated by commas, in this order. The others are absent, even if ' +
        'the schema of a user requires them.'
    },
    problem (value) {
      const names = typeof value === 'string' ? value.split(',') : []
      if (names.length === 0 || !names.every((name) => members.includes(name))) return unknown
      return new Set(names).size === names.length
        ? null
        : { code: 'duplicate', detail: 'must not name a member twice' }
    }
  }
  return {
    parameter,
    /** Reads it, and adds what is wrong to the faults. */
    of ({ query, faults }: { query: Readonly<Record<string, unknown>>, faults: Fault[] }): Selected {
      if (!Object.hasOwn(query, 'select')) return { names: null, query }
      const { select, ...rest } = query
      const reason = parameter.problem(select)
      if (reason !== null) faults.push({ parameter: 'select', ...reason })
      return { names: reason === null ? String(select).split(',') : null, query: rest }
    }
  }
}
