import type { Client } from '../api/client.ts'
import type { Delivery, Listed } from '../api/types.ts'

/** How many requests run at a time. */
const TOGETHER = 4

/** True of what was tried in vain, whether or not it will be tried again by itself. */
const isFailed = ({ status, attempts }: Delivery): boolean =>
  status === 'failed' || (status === 'pending' && attempts.length > 0)

interface Walk { limit: number, signal: AbortSignal, onProgress: (seen: number, total: number) => void }

/** The deliveries of a webhook that have failed, oldest first: the order in which they are sent again. */
export async function failedDeliveries (
  client: Client,
  webhook: string,
  { limit, signal, onProgress }: Walk
): Promise<Delivery[]> {
  const failed = new Map<string, Delivery>()
  for (let page = 1, seen = 0; ; page++) {
    const address = `/webhooks/${webhook}/deliveries?page=${page}&limit=${limit}`
    const { body: { data, meta } } = await client.get<Listed<Delivery>>(address, { signal, isPatient: true })
    for (const delivery of data) if (isFailed(delivery)) failed.set(delivery.id, delivery)
    seen += data.length
    onProgress(seen, meta.total)
    if (data.length < limit) return [...failed.values()].reverse()
  }
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
