import { type Call, type CallerId, type Context, FROM_PROCESS } from '../core/context.ts'
import { UsersError, validationFailed } from '../core/errors.ts'
import { isUserId } from '../core/ids.ts'
import { FAULTS_MAX } from '../core/limits.ts'
import { tenantRequired } from '../core/tenant.ts'
import type { Repository } from '../storage/repository.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { type PartProblem, partProblem } from '../core/problem.ts'
import { fromStorage, toUsersError } from '../storage/storage-errors.ts'
import type { Json, UserRecord } from '../storage/storage.ts'
import type { UserWrite, WriteOutcome, WritesResult } from '../storage/user-writes.ts'
import type { HostFields } from '../fields/host-fields.ts'
import { deletionOf, type TrashOption } from './deletions.ts'
import { type Batch, batchFaults, type BatchOperation, inBatch } from './batch-shape.ts'
import { type CreateOptions, createOptionsFaults, idempotencyOf } from './idempotency.ts'
import { errorOfRefusal, publishedTypes, type PublishUser, type Refusal, type ScopeOf } from './outcomes.ts'
import { changesOf, checkCreate, checkUpdate, newUserOf, type UserEventType } from './rules.ts'
import { guardOf } from './write-options.ts'

/** A call of a batch. */
export interface BatchCall extends Call {
  /** Finds whose idempotency key it has; by default the actor's. */
  ownerOf?: () => Promise<CallerId | null>
  /** Refuses an operation before it is checked. @throws UsersError that answers it, or all of an atomic batch */
  admit?: (operation: BatchOperation) => Promise<void>
}

/** What became of an operation. */
export interface OperationResult {
  /** As of a response to it alone. */
  status: number
  /** After it. null: it was deleted, by this operation or before a repetition. */
  user: UserRecord | null
  error: UsersError | null
}

export interface BatchAnswer {
  results: OperationResult[]
  replayed: boolean
}

export interface BatchParts {
  repository: Repository
  fields: HostFields | null
  requireIfMatch: boolean
  /** Seconds that an idempotency key is kept. */
  idempotencyTtl: number
  /** Null: a deletion is final. */
  trash: TrashOption | null
  /** The option: users show their tenant, and only callers that are bound to one make users. */
  tenants: boolean
  publish: PublishUser
  scopeOf: ScopeOf
  makeEvent: MakeEvent
}

export type WriteBatch = (input: unknown, options: CreateOptions, call?: BatchCall) => Promise<BatchAnswer>

/** Matches no version, so the write only checks whether the user exists. */
const NEVER = { ifVersion: [], unlessVersion: [] }

const STATUS = { create: 201, update: 200, restore: 200, delete: 204, purge: 204 } as const
const EVENT_TYPES: Record<BatchOperation['op'], UserEventType> = {
  create: 'user.created',
  update: 'user.updated',
  restore: 'user.restored',
  delete: 'user.deleted',
  purge: 'user.purged'
}

/** Errors about the caller. They fail an atomic batch as a whole, because a retry or another key may succeed. */
const OF_THE_CALLER = ['insufficient_scope', 'rate_limited']

/** A problem as an idempotency key keeps it. */
const jsonOf = (error: UsersError): Json => JSON.parse(JSON.stringify(partProblem(error)))

function errorOf (problem: PartProblem): UsersError {
  const { code, detail, errors } = problem
  return new UsersError(code, { detail, ...(errors !== undefined && { errors }) })
}

/** The errors that a note keeps, by the index of their operation. */
function errorsIn (note: Json): Map<number, UsersError> {
  const problems = new Map<number, PartProblem>(note === null ? [] : Object(note))
  return new Map([...problems].map(([index, problem]) => [index, errorOf(problem)]))
}

function failed (index: number, error: UsersError): UsersError {
  const first = { pointer: `/operations/${index}`, code: error.code, detail: error.message }
  return new UsersError('batch_failed', { errors: [first, ...inBatch(index, error.errors ?? [])].slice(0, FAULTS_MAX) })
}

const refused = (error: UsersError): OperationResult => ({ status: error.statusCode, user: null, error })

/** Batches of operations on users, without HTTP: each is judged as it would be alone, and all are made in one step. */
export function createBatches (parts: BatchParts): WriteBatch {
  const { repository, fields, requireIfMatch, idempotencyTtl, trash, tenants, publish, makeEvent } = parts

  const lacksIfMatch = (operation: BatchOperation): boolean =>
    requireIfMatch && operation.op !== 'create' && operation.op !== 'restore' && operation.ifMatch === undefined

  function guardFor (operation: Exclude<BatchOperation, { op: 'create' }>) {
    if (lacksIfMatch(operation)) return NEVER
    return guardOf(operation.ifMatch === undefined ? {} : { ifMatch: operation.ifMatch })
  }

  function prepareUpdate (operation: BatchOperation & { op: 'update' }, context: Context): UserWrite {
    const { id, body } = operation
    const checked = checkUpdate(body, id, false, fields, tenants)
    if ('faults' in checked) throw validationFailed(checked.faults)
    if (!isUserId(id)) throw new UsersError('user_not_found')
    const { changes, patchFields, storedFaults } = checked
    return {
      type: 'update',
      id,
      changes: patchFields === null && storedFaults === null
        ? changes
        : (user) => {
            const made = changesOf(checked, user)
            return 'faults' in made ? { refused: jsonOf(validationFailed(made.faults)) } : made.changes
          },
      updatedAt: new Date().toISOString(),
      guard: guardFor(operation),
      event: makeEvent('user.updated', context)
    }
  }

  function prepare (operation: BatchOperation, context: Context): UserWrite {
    if (operation.op === 'update') return prepareUpdate(operation, context)
    if (operation.op === 'create') {
      const checked = checkCreate(operation.body, fields)
      if ('faults' in checked) throw validationFailed(checked.faults)
      return { type: 'create', ...newUserOf(checked), event: makeEvent('user.created', context) }
    }
    const { op, id } = operation
    if (!isUserId(id)) throw new UsersError('user_not_found')
    const guard = guardFor(operation)
    if (op === 'restore') {
      const event = makeEvent('user.restored', context)
      return { type: 'restore', id, updatedAt: new Date().toISOString(), guard, event }
    }
    return deletionOf({ trash, makeEvent }, { id, guard, erase: false, final: op === 'purge' }, context)
  }

  function errorFor (outcome: Refusal, operation: BatchOperation): UsersError {
    if (outcome.code === 'version_mismatch' && lacksIfMatch(operation)) {
      return new UsersError('precondition_required', { detail: 'This operation needs ifMatch.' })
    }
    return errorOfRefusal(outcome, (reason) => errorOf(Object(reason)))
  }

  function resultOf (outcome: WriteOutcome, operation: BatchOperation): OperationResult {
    if (outcome.code !== 'done') return refused(errorFor(outcome, operation))
    const user = STATUS[operation.op] === 204 ? null : outcome.user
    return { status: STATUS[operation.op], user, error: null }
  }

  /** Puts the outcomes of the writes, and what never reached the storage, in the order of the operations. */
  function resultsOf (
    operations: readonly BatchOperation[],
    { outcomes }: WritesResult,
    refusals: ReadonlyMap<number, UsersError>,
    atomic: boolean
  ): OperationResult[] {
    let next = 0
    return operations.map((operation, index) => {
      const refusal = refusals.get(index)
      if (refusal !== undefined) return refused(refusal)
      const outcome = outcomes[next++]
      if (outcome === undefined) throw new UsersError('internal', { cause: new Error('a write has no outcome') })
      const result = resultOf(outcome, operation)
      if (atomic && result.error !== null) throw failed(index, result.error)
      return result
    })
  }

  /** Publishes what the writes have changed. */
  function publishAll (writes: readonly UserWrite[], { outcomes }: WritesResult, context: Context): void {
    for (const [i, write] of writes.entries()) {
      const outcome = outcomes[i]
      if (outcome?.code !== 'done' || !outcome.changed || outcome.user === null) continue
      for (const [type, recorded] of publishedTypes(EVENT_TYPES[write.type], outcome.types, write.event)) {
        publish(type, outcome.user, context, recorded)
      }
    }
  }

  /** The writes of the operations that are not refused before they reach the storage, by their index. */
  async function prepareAll ({ operations, atomic }: Batch, { context, admit }: BatchCall) {
    const prepared = new Map<number, UserWrite>()
    const refusals = new Map<number, UsersError>()
    for (const [index, operation] of operations.entries()) {
      try {
        if (admit !== undefined) await admit(operation)
        prepared.set(index, prepare(operation, context))
      } catch (thrown) {
        const error = toUsersError(thrown)
        const endsAll = error.statusCode >= 500 || (atomic && OF_THE_CALLER.includes(error.code))
        if (endsAll) throw error
        refusals.set(index, error)
      }
    }
    return { prepared, refusals }
  }

  /** @throws UsersError if the operations have no JSON text: they are nested too deep, or not of JSON */
  function identityOf (key: string, operations: readonly BatchOperation[], atomic: boolean, owner: CallerId | null) {
    try {
      return idempotencyOf(key, ['batch', operations, atomic], owner, idempotencyTtl)
    } catch {
      throw validationFailed([{ pointer: '/operations', code: 'invalid', detail: 'must be JSON without deep nesting' }])
    }
  }

  return async (input, options, call = FROM_PROCESS) => {
    const { context, priorFaults, ownerOf, tenant } = call
    const faults = [...priorFaults, ...createOptionsFaults(options), ...batchFaults(input, trash !== null)]
    if (faults.length > 0) throw validationFailed(faults)
    const { operations, atomic = false }: Batch = Object(input)
    if (tenants && tenant === undefined && operations.some(({ op }) => op === 'create')) {
      throw validationFailed([tenantRequired({ parameter: 'tenant' })])
    }
    const { idempotencyKey } = options
    const { prepared, refusals } = await prepareAll({ operations, atomic }, call)
    const [first] = refusals
    if (atomic && first !== undefined) throw failed(...first)

    // Nothing is made, so there is nothing to repeat.
    if (prepared.size === 0) {
      const outcomes: WritesResult = { outcomes: [], note: null, replayed: false }
      return { results: resultsOf(operations, outcomes, refusals, atomic), replayed: false }
    }
    const owner = idempotencyKey === undefined || ownerOf === undefined ? context.actor : await ownerOf()
    const note: Json = refusals.size === 0 ? null : [...refusals].map(([index, error]) => [index, jsonOf(error)])
    const idempotency = idempotencyKey === undefined
      ? null
      : { ...identityOf(idempotencyKey, operations, atomic, owner), note }
    const writes = [...prepared.values()]
    const result = await fromStorage(() => repository.users.write(writes, {
      ...parts.scopeOf({ tenant, context }), atomic, idempotency
    }))
    const kept = result.replayed ? errorsIn(result.note) : refusals
    const results = resultsOf(operations, result, kept, atomic)
    if (!result.replayed) publishAll(writes, result, context)
    return { results, replayed: result.replayed }
  }
}
