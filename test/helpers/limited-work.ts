import { createConcurrencyLimits, type LimitSettings } from '../../lib/http/limits/concurrency-limit.ts'
import type { advancing } from './advancing.ts'

export const createLimit = (settings: LimitSettings) => createConcurrencyLimits(settings)()

/** Work that runs until it is ended. */
export function pending () {
  let resolve: (value: string) => void = () => {}
  let started = false
  const promise = new Promise<string>((_resolve) => { resolve = _resolve })
  const work = () => {
    started = true
    return promise
  }
  return { work, started: () => started, resolve: (value: string) => resolve(value) }
}

/** A storage on so many connections, each of which needs so long for one piece of work. */
export function storageOf (connections: number, work: () => Promise<void>) {
  const queue: Array<() => void> = []
  let free = connections
  return {
    isQueueing: () => queue.length > 0,
    async work () {
      if (free === 0) await new Promise<void>((resolve) => queue.push(resolve))
      else free--
      await work()
      const next = queue.shift()
      if (next === undefined) free++
      else next()
    }
  }
}

export const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0

type Advancing = ReturnType<typeof advancing>

/** Has so many clients send one piece of work after the other for so many seconds: how long each took, in ms. */
export async function crowd (
  { advance, after, now }: Advancing, count: number, seconds: number, send: () => Promise<void>
) {
  const times = { served: new Array<number>(), refused: new Array<number>() }
  const end = now() + seconds * 1000
  let active = count
  const clients = Array.from({ length: count }, async () => {
    while (now() < end) {
      const begun = now()
      const isServed = await send().then(() => true, () => false)
      times[isServed ? 'served' : 'refused'].push(now() - begun)
      // Impatient: `Retry-After` says a second.
      if (!isServed) await after(100)
    }
    active--
  })
  const isOver = () => active === 0
  while (!isOver()) await advance(20)
  await Promise.all(clients)
  return times
}

export const refusal = {
  code: 'storage_unavailable',
  statusCode: 503,
  message: 'Too many requests are running at the moment. Try again later.',
  headers: { 'retry-after': '1' }
}
