import type { Client } from '../api/client.ts'
import type { Delivery, Listed } from '../api/types.ts'

/** How many requests run at a time. */
const TOGETHER = 4

/** True of what was tried in vain, whether or not it will be tried again by itself. */
const isFailed = ({ status, attempts }: Delivery): boolean =>
  status === 'failed' || (status === 'pending' && attempts.length > 0)

/** True of what is sent as soon as it can be. */
export const isOnItsWay = ({ status, nextAttemptAt }: Delivery): boolean =>
  status === 'pending' && nextAttemptAt !== undefined && Date.parse(nextAttemptAt) <= Date.now()

const LONGEST_PAUSE_MS = 30_000

/** How long to wait, in milliseconds, until what is on its way is read again: longer if nothing came of it. */
export const pauseAfter = (looks: number): number => Math.min(1000 * 2 ** looks, LONGEST_PAUSE_MS)

interface Walk { limit: number, signal: AbortSignal, onProgress: (seen: number, total: number) => void }

/** The deliveries of a webhook that are wanted, oldest first. */
async function deliveriesOf (
  client: Client,
  webhook: string,
  isWanted: (delivery: Delivery) => boolean,
  { limit, signal, onProgress }: Walk
): Promise<Delivery[]> {
  const found = new Map<string, Delivery>()
  for (let page = 1, seen = 0; ; page++) {
    const address = `/webhooks/${webhook}/deliveries?page=${page}&limit=${limit}`
    const { body: { data, meta } } = await client.get<Listed<Delivery>>(address, { signal, isPatient: true })
    for (const delivery of data) if (isWanted(delivery)) found.set(delivery.id, delivery)
    seen += data.length
    onProgress(seen, meta.total)
    if (data.length < limit) return [...found.values()].reverse()
  }
}

/** The deliveries of a webhook that have failed, in the order in which they are sent again. */
export const failedDeliveries = (client: Client, webhook: string, walk: Walk): Promise<Delivery[]> =>
  deliveriesOf(client, webhook, isFailed, walk)

/** How many of those that were sent again have arrived, have failed once more, and are on their way. */
export interface Outcome { delivered: number, failed: number, waiting: number }

/** What has come so far of deliveries that were sent again. `sent`: as they were before. */
export async function outcomeOf (
  client: Client,
  webhook: string,
  sent: readonly Delivery[],
  walk: Walk
): Promise<Outcome> {
  const attempts = new Map(sent.map(({ id, attempts }) => [id, attempts[attempts.length - 1]?.at]))
  const now = await deliveriesOf(client, webhook, ({ id }) => attempts.has(id), walk)
  const isNew = ({ id, attempts: all }: Delivery): boolean => all[all.length - 1]?.at !== attempts.get(id)
  const delivered = now.filter(({ status }) => status === 'succeeded').length
  const failed = now.filter((each) => each.status !== 'succeeded' && isNew(each)).length
  return { delivered, failed, waiting: now.length - delivered - failed }
}

export interface Retried { done: number, refused: ReadonlyArray<{ delivery: Delivery, error: unknown }> }

/** Sends deliveries again, a few at a time. Aborting ends it after those that are under way. */
export async function retryMany (
  client: Client,
  webhook: string,
  deliveries: readonly Delivery[],
  { signal, onProgress }: { signal: AbortSignal, onProgress: (retried: Retried) => void }
): Promise<void> {
  const waiting = [...deliveries]
  let retried: Retried = { done: 0, refused: [] }
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const delivery = next
      try {
        await client.send('POST', `/webhooks/${webhook}/deliveries/${delivery.id}/retry`, { isPatient: true })
        retried = { ...retried, done: retried.done + 1 }
      } catch (error) {
        retried = { ...retried, refused: [...retried.refused, { delivery, error }] }
      }
      onProgress(retried)
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, work))
}
