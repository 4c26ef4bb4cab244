import { setTimeout as wait } from 'node:timers/promises'
import type { Storage } from 'fastify-users'

const REMEMBERED_MS = 1000
// Probes often wait no longer than two seconds. A frozen database takes five and a half to be known as such.
const ANSWER_MS = 1500

/** `read-only`: the database answers, and accepts no writes at the moment. */
type State = 'ready' | 'read-only' | 'unavailable'

type Checked = Pick<Storage, 'open' | 'server'>

async function stateOf (storage: Checked): Promise<State> {
  const isReadOnly = await storage.server?.isReadOnly?.() ?? false
  try {
    await storage.open()
  } catch (error) {
    // A database that was set to be read-only is refused as one that is away is; a wrong schema is another matter.
    if (!isReadOnly || Object(error).code !== 'unavailable') return 'unavailable'
  }
  return isReadOnly ? 'read-only' : 'ready'
}

/**
 * Asks at most once a second, however many ask: anybody may, and each answer is a question to the database. A second
 * is short for a load balancer.
 */
export function createReadiness (storage: Checked): () => Promise<State> {
  let answer: Promise<State> | null = null
  async function ask (): Promise<State> {
    const late = wait(ANSWER_MS, 'unavailable' as const, { ref: false })
    return Promise.race([stateOf(storage).catch(() => 'unavailable' as const), late])
  }
  return async () => {
    answer ??= ask().finally(() => {
      setTimeout(() => { answer = null }, REMEMBERED_MS).unref()
    })
    return answer
  }
}
