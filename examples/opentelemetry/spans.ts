// Spans of what fastify-users does, for OpenTelemetry. Beside @fastify/otel, they stand under the span of the request.
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, type ChannelListener, tracingChannel } from 'node:diagnostics_channel'
import { type Attributes, context, type Span, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api'

/** What a channel tells: strings and numbers, and `error` where something has failed. */
type Told = Record<string, unknown>

const CHANNELS: Record<string, (told: Told) => string> = {
  operation: ({ operation }) => `users ${String(operation)}`,
  'key-check': () => 'users key check',
  storage: ({ method }) => `users storage ${String(method)}`,
  wait: () => 'users wait',
  compaction: () => 'users compaction',
  delivery: () => 'users delivery'
}

function attributesOf ({ error: _error, result: _result, ...told }: Told): Attributes {
  return Object.fromEntries(Object.entries(told).map(([name, value]) => [`fastify_users.${name}`, String(value)]))
}

/** Makes spans until the function that it returns is called. */
export function traceUsers (tracer: Tracer): () => void {
  const current = new AsyncLocalStorage<Span>()
  const undo: Array<() => void> = []

  function follow (name: string, nameOf: (told: Told) => string): void {
    const { start, asyncEnd } = tracingChannel(`fastify-users:${name}`)
    const spans = new WeakMap<object, Span>()
    start.bindStore(current, (told) => {
      const outer = current.getStore()
      const parent = outer === undefined ? context.active() : trace.setSpan(context.active(), outer)
      const span = tracer.startSpan(nameOf(Object(told)), {}, parent)
      spans.set(Object(told), span)
      return span
    })
    const end: ChannelListener = (told) => {
      const span = spans.get(Object(told))
      span?.setAttributes(attributesOf(Object(told)))
      // Without the message, which may be of a driver.
      if (Object(told).error !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR })
      span?.end()
    }
    channel(asyncEnd.name).subscribe(end)
    undo.push(() => {
      start.unbindStore(current)
      channel(asyncEnd.name).unsubscribe(end)
    })
  }

  for (const [name, nameOf] of Object.entries(CHANNELS)) follow(name, nameOf)
  return () => { for (const each of undo) each() }
}
