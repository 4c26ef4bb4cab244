import { shapeCheck } from '../core/body-shape.ts'
import { type Fault, reasonFor } from '../core/fault.ts'
import { isObject } from '../core/json.ts'
import { BATCH_MAX } from '../core/limits.ts'
import { Type } from '../core/typebox.ts'
import { isVersions, type Versions } from './write-options.ts'

/** An operation of a batch. */
export type BatchOperation<Body = unknown> =
  | { op: 'create', body: Body }
  | { op: 'update', id: string, body: Body, ifMatch?: Versions }
  | { op: 'delete' | 'restore' | 'purge', id: string, ifMatch?: Versions }

/** A batch, after the check of its shape. What the bodies have is judged for each operation. */
export interface Batch {
  operations: readonly BatchOperation[]
  atomic: boolean
}

const CLOSED = { additionalProperties: false }
const id = Type.String()
const ifMatch = Type.Optional(Type.Unknown())

const batchShape = shapeCheck(Type.Object({
  operations: Type.Array(Type.Unknown()),
  atomic: Type.Optional(Type.Boolean())
}, CLOSED))

const alone = shapeCheck(Type.Object({ op: Type.String(), id, ifMatch }, CLOSED))
const OPERATIONS = new Map<unknown, (value: unknown) => Fault[]>([
  ['create', shapeCheck(Type.Object({ op: Type.String(), body: Type.Unknown() }, CLOSED))],
  ['update', shapeCheck(Type.Object({ op: Type.String(), id, body: Type.Unknown(), ifMatch }, CLOSED))],
  ['delete', alone], ['restore', alone], ['purge', alone]
])
/** Operations of mounts whose deleted users can be restored. */
const OF_TRASH: readonly unknown[] = ['restore', 'purge']

const under = (pointer: string) => (fault: Fault): Fault => ({ ...fault, pointer: `${pointer}${fault.pointer ?? ''}` })

function operationFaults (operation: unknown, hasTrash: boolean): Fault[] {
  if (!isObject(operation)) return [{ pointer: '', ...reasonFor('type', { type: 'object' }) }]
  const { op, ifMatch: versions } = operation
  if (op === undefined) return [{ pointer: '/op', ...reasonFor('required') }]
  const known = [...OPERATIONS.keys()].filter((each) => hasTrash || !OF_TRASH.includes(each))
  const shape = OPERATIONS.get(op)
  if (shape === undefined || !known.includes(op)) {
    return [{ pointer: '/op', ...reasonFor('enum', { allowedValues: known }) }]
  }
  const faults = shape(operation)
  if (versions === undefined || op === 'create' || isVersions(versions)) return faults
  return [...faults, { pointer: '/ifMatch', code: 'format', detail: "must be a version, a list of versions or '*'" }]
}

function sizeFaults (count: number): Fault[] {
  if (count === 0) return [{ pointer: '/operations', ...reasonFor('minItems', { limit: 1 }) }]
  if (count > BATCH_MAX) return [{ pointer: '/operations', ...reasonFor('maxItems', { limit: BATCH_MAX }) }]
  return []
}

/**
 * The faults in the shape of a batch, without those in operations' bodies. `hasTrash`: deleted users can be restored.
 */
export function batchFaults (input: unknown, hasTrash: boolean): Fault[] {
  const faults = batchShape(input)
  const { operations } = Object(input)
  if (!Array.isArray(operations)) return faults
  const size = sizeFaults(operations.length)
  if (size.length > 0) return [...faults, ...size]
  return [
    ...faults,
    ...operations.flatMap((operation, i) => operationFaults(operation, hasTrash).map(under(`/operations/${i}`)))
  ]
}

/** The faults of an operation's body, by their place in the batch. */
export function inBatch (index: number, faults: readonly Fault[]): Fault[] {
  const pointer = `/operations/${index}/body`
  return faults.map((fault) => fault.pointer === undefined ? { pointer, ...fault } : under(pointer)(fault))
}
