import { tracingChannel } from 'node:diagnostics_channel'

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
  /** Such as `commit` or `log.read`. */
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
