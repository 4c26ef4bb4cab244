import { validationFailed } from '../core/errors.ts'
import type { ForegroundRequests } from '../core/foreground-requests.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { GROUPS } from './import-groups.ts'
import { keysOfRow, textOfKey } from './import-keys.ts'
import { checkRow, type ImportRow, type RowRules } from './import-row.ts'
import type { SourceRow, SourceRows, UnreadableRow } from './source-row.ts'

/** A row that was checked, or why it is refused. */
export type BatchRow = { line: number, row: ImportRow } | UnreadableRow

// One group of writes. With 512, twice as many rows survive garbage collections: 185 instead of 161 MB at the peak.
const BATCH_MAX = 256
// A request waits a millisecond or so for a batch that has begun.
const BATCH_MAX_BUSY = 16
// Flush a partial batch after 10 ms without new rows.
const QUIET_MS = 10

function checked (source: SourceRow, rules: RowRules): BatchRow {
  if ('error' in source) return source
  const { line, value } = source
  const row = checkRow(line, value, rules)
  return 'error' in row ? { line, error: row.error } : { line, row }
}

const FIRST = { order: 'asc', limit: 1, from: { offset: 0 } } as const

const QUIET = Symbol('nothing comes')

/** The next part, or QUIET if it does not arrive within `QUIET_MS`. */
async function soon<Part> (next: Promise<Part>): Promise<Part | typeof QUIET> {
  let timer: NodeJS.Timeout | undefined
  const quiet = new Promise<typeof QUIET>((resolve) => { timer = setTimeout(() => resolve(QUIET), QUIET_MS) })
  try {
    return await Promise.race([next, quiet])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Checks rows, and yields them in batches. The rows of a batch have no key in common, so what becomes of one row does
 * not affect another that is created. A batch does not wait for rows that are slow to arrive, and is small while
 * requests arrive.
 */
export async function * batchesOf (
  sources: SourceRows,
  rules: RowRules,
  { isBusy }: Pick<ForegroundRequests, 'isBusy'>
): AsyncGenerator<BatchRow[], void, undefined> {
  const unique = rules.fields?.schema.unique ?? []
  const parts = sources[Symbol.asyncIterator]()
  let batch: BatchRow[] = []
  let keys = new Set<string>()
  const take = (): BatchRow[] => {
    const taken = batch
    batch = []
    keys = new Set()
    return taken
  }

  const ask = (): Promise<IteratorResult<SourceRow[]>> => {
    const asked = parts.next()
    // No unhandled rejection: whoever awaits the promise gets its error.
    asked.catch(() => {})
    return asked
  }

  try {
    let next = ask()
    while (true) {
      // If the rows fail, those that came before are imported first.
      const part = batch.length === 0 ? await next : await soon(next).catch((): typeof QUIET => QUIET)
      if (part === QUIET) {
        yield take()
        continue
      }
      if (part.done === true) break
      next = ask()
      for (const source of part.value) {
        const each = checked(source, rules)
        const own = 'row' in each ? keysOfRow(each.row, unique).map(textOfKey) : []
        const max = isBusy() ? BATCH_MAX_BUSY : BATCH_MAX
        if (batch.length >= max || own.some((key) => keys.has(key))) yield take()
        batch.push(each)
        for (const key of own) keys.add(key)
      }
    }
    if (batch.length > 0) yield take()
  } finally {
    await parts.return?.()
  }
}

/** Prefetches the next value while the previous one is being processed. */
export async function * ahead<Value> (
  values: AsyncGenerator<Value, void, undefined>
): AsyncGenerator<Value, void, undefined> {
  let next = values.next()
  try {
    while (true) {
      const { value, done } = await next
      if (done === true || value === undefined) return
      next = values.next()
      // No unhandled rejection: whoever awaits the promise gets its error.
      next.catch(() => {})
      yield value
    }
  } finally {
    // Not awaited: `return()` settles only after the pending `next()`, which may never settle.
    values.return().catch(() => {})
  }
}

/** Makes the function that finds the groups that the rows of a batch name. A row with an unknown name is refused. */
export function groupFinder ({ groups }: Pick<Repository, 'groups'>) {
  return async (batch: readonly BatchRow[]): Promise<readonly BatchRow[]> => {
    const found = new Map<string, Promise<string | null>>()
    const idOf = (nameKey: string, tenant: string | undefined): Promise<string | null> => {
      const asked = JSON.stringify([tenant, nameKey])
      const id = found.get(asked) ?? fromStorage(() => groups.list({ nameKey, tenant }, FIRST))
        .then(({ items: [group] }) => group?.id ?? null)
      found.set(asked, id)
      return id
    }
    return Promise.all(batch.map(async (each) => {
      if ('error' in each || each.row.groups.length === 0) return each
      const { line, row } = each
      const ids = await Promise.all(row.groups.map((key) => idOf(key, row.tenant)))
      const joins = ids.filter((id) => id !== null)
      if (joins.length === ids.length) return { line, row: { ...row, joins } }
      const detail = 'must be the name of a group'
      const pointer = `/${GROUPS}/${ids.indexOf(null)}`
      return { line, error: validationFailed([{ pointer, code: 'unknown', detail }]) }
    }))
  }
}
