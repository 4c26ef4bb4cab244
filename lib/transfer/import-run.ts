import { UsersError } from '../core/errors.ts'
import { type PartProblem, partProblem } from '../core/problem.ts'
import { shownId } from './dry-run-store.ts'
import type { BatchRow } from './import-batches.ts'
import type { FindAway, Judge, Verdict } from './import-judge.ts'
import type { ImportRow } from './import-row.ts'
import type { OnConflict } from './import-settings.ts'
import { type ImportStore, isFault } from './import-store.ts'

/** What has become of a row. Which members it has, `status` says. */
export type ImportResult = CreatedRow | UpdatedRow | RefusedRow

interface Row<Status extends string> {
  /** The line that it begins in, or which of the rows it is; from 1. */
  line: number
  status: Status
}

interface CreatedRow extends Row<'created'> {
  /** The new user. A dry run makes none. */
  id?: string
  /** Its version, which an undo can ask for. A dry run has none. */
  version?: number
}

/** `skipped`: its user is there, and was left as it is, or is so already. */
interface UpdatedRow extends Row<'updated' | 'skipped'> {
  /** The user. Over HTTP, only for whoever may read users. */
  id?: string
}

export interface RefusedRow extends Row<'refused'> {
  /** Why it was refused. */
  problem: PartProblem
  /** If the storage itself refused it, which is `internal`: its error. JSON omits it. */
  cause?: unknown
}

// Attempts to write a row while others keep changing its user.
const ATTEMPTS = 100
// A storage that refuses so many rows in succession takes no more, for example because a right was revoked.
const FAULTS_MAX = 100

function resultOf (
  { line, version = 1 }: Pick<ImportRow, 'line'> & Partial<Pick<ImportRow, 'version'>>,
  verdict: Verdict,
  made: string | null
): ImportResult {
  const { status } = verdict
  if (status === 'refused') return { line, status, problem: partProblem(verdict.error) }
  const id = shownId(status === 'created' ? made : status === 'updated' ? verdict.target.id : verdict.id)
  return { line, status, ...(id !== null && { id, ...(status === 'created' && { version }) }) }
}

/** The result of a row that the storage itself refuses. */
function faultOf (row: ImportRow, error: UsersError): ImportResult {
  return Object.defineProperty(resultOf(row, refusal(error), null), 'cause', { value: error.cause })
}

/**
 * Makes the function that says whether an import goes on after the results of a batch: a storage may refuse some rows,
 * but one that has taken none yet, or refuses many in succession, has failed.
 */
function faultWatch (): (results: readonly ImportResult[], faults: ReadonlyMap<ImportResult, UsersError>) => void {
  let works = false
  let inSuccession = 0
  return (results, faults) => {
    works ||= results.some(({ status }) => status !== 'refused')
    for (const result of results) {
      const error = faults.get(result)
      if (result.status !== 'refused') inSuccession = 0
      if (error !== undefined && (!works || ++inSuccession > FAULTS_MAX)) throw error
    }
  }
}

/** What settles the rows of an import. */
export interface Run {
  judge: Judge
  store: ImportStore
  findAway: FindAway
  onConflict: OnConflict
  failFast: boolean
  choosesIds: boolean
  /** True in a transaction of the host's: after a fault it can only be rolled back. */
  isJoined: boolean
}

/** Makes the function that imports one batch after the other. */
export function batchImport (run: Run, mayTry: boolean) {
  const { judge, store, findAway, onConflict, failFast, choosesIds, isJoined } = run
  let expectsNew = mayTry
  const requireWorking = faultWatch()
  const faults = new Map<ImportResult, UsersError>()

  function refusedBy (error: unknown, row: ImportRow): ImportResult {
    if (isJoined || !isFault(error)) throw error
    const result = faultOf(row, error)
    faults.set(result, error)
    return result
  }

  /** Does what the verdict says; null: it does not hold any more. */
  async function carryOut (row: ImportRow, verdict: Verdict): Promise<ImportResult | null> {
    if (verdict.status === 'created') {
      const made = await store.create(row)
      return made === null ? null : resultOf(row, verdict, made.id)
    }
    if (verdict.status === 'updated' && !await store.update(row, verdict)) return null
    return resultOf(row, verdict, null)
  }

  async function settle (row: ImportRow, first: Verdict): Promise<ImportResult> {
    let verdict = first
    let isRefused = false
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const result = await carryOut(row, verdict)
        if (result !== null) return result
      } catch (error) {
        if (!isFieldTaken(error)) return refusedBy(error, row)
        // The row is judged once more, because a storage may name this of several values that others have.
        if (isRefused) return resultOf(row, refusal(error), null)
        isRefused = true
      }
      verdict = await judge(row)
    }
    const detail = 'Other writers keep changing a user.'
    throw new UsersError('storage_unavailable', { detail, headers: { 'retry-after': '5' } })
  }

  /** Adds the user of a row without judging it, which is right if nobody has any of its keys; null: somebody has. */
  async function tryNew (row: ImportRow): Promise<ImportResult | null> {
    // A storage may take a user of the same id and values for one of its own that it has added.
    if (row.id !== null && (!choosesIds || await store.find({ name: 'id', value: row.id }) !== null)) return null
    if (row.id !== null && await findAway(row.id) !== null) return null
    return carryOut(row, { status: 'created' }).catch((error: unknown) => {
      return isFieldTaken(error) ? null : refusedBy(error, row)
    })
  }

  /**
   * Settles judged rows as if one after the other. Only a row that waits for another one's key depends on those before
   * it: rows without such are settled concurrently.
   */
  async function inOrder (
    rows: readonly ImportRow[],
    verdicts: readonly Verdict[],
    add: (result: ImportResult) => void
  ): Promise<boolean> {
    const isOpen = (verdict: Verdict | undefined) =>
      onConflict === 'update' && verdict?.status === 'refused' && verdict.isBlocked
    let done = 0
    while (done < rows.length) {
      const rest = verdicts.slice(done)
      const end = rest.findIndex((each) => isOpen(each) || (failFast && each.status === 'refused'))
      const together = rows.slice(done, end === -1 ? undefined : done + end)
      const settled = await Promise.all(together.map((row, i) => settle(row, rest[i] ?? { status: 'created' })))
      settled.forEach(add)
      if (failFast && settled.some(({ status }) => status === 'refused')) return false
      done += together.length
      const [next] = rows.slice(done)
      if (next === undefined) return true
      const result = await settle(next, await judge(next))
      add(result)
      if (failFast && result.status === 'refused') return false
      done++
    }
    return true
  }

  /** The results of a batch, how many rows are refused without being listed, and whether the import goes on. */
  return async (
    batch: readonly BatchRow[]
  ): Promise<{ results: ImportResult[], unlisted: number, goesOn: boolean }> => {
    const results: ImportResult[] = []
    let unlisted = 0
    const stop = failFast ? batch.findIndex((each) => 'error' in each) : -1
    const taken = stop === -1 ? batch : batch.slice(0, stop + 1)
    const rows = taken.flatMap((each) => 'row' in each ? [each.row] : [])
    let left = rows
    if (expectsNew) {
      const tried = await Promise.all(rows.map(tryNew))
      results.push(...tried.filter((result) => result !== null))
      left = rows.filter((_row, i) => tried[i] === null)
    }
    let goesOn = true
    if (left.length > 0) {
      const judged = await Promise.all(left.map(judge))
      expectsNew = mayTry && judged.length < rows.length / 2
      goesOn = await inOrder(left, judged, (result) => results.push(result))
    }
    if (goesOn) {
      for (const each of taken) {
        if (!('error' in each)) continue
        if (each.isRepeated === true) unlisted++
        else results.push(resultOf(each, refusal(each.error), null))
      }
    }
    results.sort((a, b) => a.line - b.line)
    requireWorking(results, faults)
    faults.clear()
    return { results, unlisted, goesOn: goesOn && stop === -1 }
  }
}

const isFieldTaken = (error: unknown): error is UsersError =>
  error instanceof UsersError && error.code === 'field_taken'

function refusal (error: UsersError): Verdict {
  return { status: 'refused', error, isBlocked: false }
}
