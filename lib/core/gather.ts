import { atEndOfTurn } from './turn.ts'

interface Waiting<Request, Value> {
  key: string
  request: Request
  resolve: (value: Value) => void
  reject: (error: unknown) => void
}

/**
 * Does together what is asked for in one turn of the event loop: the way to the database costs more than most reads.
 * `work` gets at most `max` requests, and returns their results in the same order. Requests with the same key are one,
 * and their callers share its result. The work begins at the end of the turn, so no result is older than its call.
 */
export function gather<Request, Value> (
  max: number,
  keyOf: (request: Request) => string,
  work: (requests: Several<Request>) => Promise<readonly Value[]>
): (request: Request) => Promise<Value> {
  const results = new Map<string, Promise<Value>>()
  let open: Array<Waiting<Request, Value>> = []

  async function workOn (batch: Array<Waiting<Request, Value>>): Promise<void> {
    // Close this batch to new requests.
    if (open === batch) open = []
    for (const { key } of batch) results.delete(key)
    const [first, ...others] = batch.map(({ request }) => request)
    if (first === undefined) return
    try {
      const values = await work([first, ...others])
      for (const [i, value] of values.entries()) batch[i]?.resolve(value)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (request) => {
    const key = keyOf(request)
    const joined = results.get(key)
    if (joined !== undefined) return joined
    if (open.length === max) open = []
    const batch = open
    if (batch.length === 0) atEndOfTurn(() => workOn(batch))
    const result = new Promise<Value>((resolve, reject) => {
      batch.push({ key, request, resolve, reject })
    })
    results.set(key, result)
    return result
  }
}

/** A list with at least one item. */
export type Several<Item> = readonly [Item, ...Item[]]
