import { UsersError } from '../errors.ts'

/** Lets a piece of work through, or throws UsersError `storage_unavailable`. */
export type Gate = <Value>(work: () => Promise<Value>) => Promise<Value>

/**
 * A gate that lets at most so many pieces of work be under way at once, and refuses the others at once: they wait nowhere, and never reach the connections of the
 * storage. Without a number it lets everything through.
 */
export function createGate (max: number | undefined): Gate {
  if (max === undefined) return (work) => work()
  let underWay = 0
  return async (work) => {
    if (underWay >= max) {
      throw new UsersError('storage_unavailable', { detail: 'Too many requests are under way at the moment. Try again later.', headers: { 'retry-after': '1' } })
    }
    underWay++
    try {
      return await work()
    } finally {
      underWay--
    }
  }
}
