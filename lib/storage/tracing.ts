import { tracingChannel } from 'node:diagnostics_channel'
import { refusalOf } from './late-opening.ts'
import { METHODS } from './storage-rules.ts'
import type { Storage } from './storage.ts'

// What the plugin tells whoever listens, by `node:diagnostics_channel`: traces and metrics are made of it. Nothing that
// is told holds a name, an address, or the text of a key.

/** A request that was admitted. */
export interface OperationTrace {
  /** Its `operationId` in the OpenAPI description, such as `createUser`. */
  operation: string
  /** Fastify's id of the request. */
  requestId: string
  /** The status of the answer, once it is known; absent after an error. */
  status?: number
  error?: unknown
}

/** The check of a token. */
export interface KeyCheckTrace {
  /** What came of it: `accepted`, or why it was refused; absent after an error. */
  outcome?: string
  error?: unknown
}

/** A call of the storage. */
export interface StorageTrace {
  /** The name of the storage, such as `postgres`. */
  storage: string
  /** Such as `writeUsers` or `eventLog.read`. */
  method: string
  error?: unknown
}

/** A request that waits for its turn at the storage. */
export interface WaitTrace { error?: unknown }

/** A round of the work that keeps counting cheap. */
export interface CompactionTrace {
  storage: string
  error?: unknown
}

/** An attempt to deliver an event to a webhook. */
export interface DeliveryTrace {
  /** The event's id. */
  event: string
  /** The status of the receiver's answer, or a word for why there was none. */
  answer?: number | string
  error?: unknown
}

/** What is used of Node.js's type, whose parameters differ from one version of `@types/node` to the next. */
interface TraceChannel<Trace extends object> {
  readonly hasSubscribers: boolean
  tracePromise<Value> (work: () => Promise<Value>, trace: Trace): Promise<Value>
}

const channel = <Trace extends object>(name: string): TraceChannel<Trace> =>
  tracingChannel<unknown, Trace>(`fastify-users:${name}`)

export const channels = {
  operation: channel<OperationTrace>('operation'),
  keyCheck: channel<KeyCheckTrace>('key-check'),
  storage: channel<StorageTrace>('storage'),
  wait: channel<WaitTrace>('wait'),
  compaction: channel<CompactionTrace>('compaction'),
  delivery: channel<DeliveryTrace>('delivery')
}

/** Runs work and tells about it, but not its value, which may be somebody's data. */
async function tell<Trace extends object, Value> (
  channel: TraceChannel<Trace>,
  trace: Trace,
  work: (trace: Trace) => Promise<Value>
): Promise<Value> {
  let keep = (_: Value): void => {}
  const value = new Promise<Value>((resolve) => { keep = resolve })
  await channel.tracePromise(async () => keep(await work(trace)), trace)
  return value
}

/** Runs work, and tells about it if anybody listens. Without a listener it costs a comparison. */
export function traced<Trace extends object, Value> (
  channel: TraceChannel<Trace>,
  describe: () => NoInfer<Trace>,
  work: (trace: NoInfer<Trace> | null) => Promise<Value>
): Promise<Value> {
  if (!channel.hasSubscribers) return work(null)
  return tell(channel, describe(), work)
}

const TOLD: readonly string[] = METHODS.filter((name) => name !== 'close')
const PARTS = ['eventLog', 'trash', 'webhooks', 'tenants', 'keyUses']

function propertiesOf (value: object): Set<string> {
  const names = new Set<string>()
  for (let each = value; each !== Object.prototype && each !== null; each = Object.getPrototypeOf(each)) {
    for (const name of Object.getOwnPropertyNames(each)) if (name !== 'constructor') names.add(name)
  }
  return names
}

/**
 * A view of a storage, or of a part of it. Its methods are told about, and refused while the storage is not open. They
 * are called on the object itself, for its private members.
 */
function view<Value extends object> (
  target: Value,
  storage: Storage,
  isTold: (name: string) => boolean,
  path = ''
): Value {
  const shown = {}
  for (const name of propertiesOf(target)) {
    const value: unknown = Reflect.get(target, name)
    if (typeof value === 'function') {
      const call = (...args: unknown[]): unknown => Reflect.apply(Object(target)[name], target, args)
      const tell = async (...args: unknown[]): Promise<unknown> =>
        traced(channels.storage, () => ({ storage: storage.name, method: `${path}${name}` }), async () => call(...args))
      const method = (...args: unknown[]): unknown => {
        const refusal = refusalOf(storage)
        if (refusal !== null) return Promise.reject(refusal)
        return channels.storage.hasSubscribers ? tell(...args) : call(...args)
      }
      Object.defineProperty(shown, name, { value: isTold(name) ? method : call, enumerable: true })
    } else if (PARTS.includes(name) && typeof value === 'object' && value !== null) {
      Object.defineProperty(shown, name, { value: view(value, storage, () => true, `${name}.`), enumerable: true })
    } else {
      Object.defineProperty(shown, name, { get: () => Reflect.get(target, name), enumerable: true })
    }
  }
  return Object(shown)
}

// One wrapper per storage: mounts share state that is keyed by the object.
const views = new WeakMap<Storage, Storage>()

/** A storage whose calls are told about. */
export function tracedStorage (storage: Storage): Storage {
  const known = views.get(storage)
  if (known !== undefined) return known
  const made = view(storage, storage, (name) => TOLD.includes(name))
  views.set(storage, made)
  return made
}
