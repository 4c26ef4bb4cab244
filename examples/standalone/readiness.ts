const REMEMBERED_MS = 1000

/**
 * Asks at most once a second, however many ask: anybody may, and each answer is a question to the database. A second
 * is short for a load balancer.
 */
export function createReadiness (check: () => Promise<void>): () => Promise<boolean> {
  let answer: Promise<boolean> | null = null
  return async () => {
    answer ??= check().then(() => true, () => false).finally(() => {
      setTimeout(() => { answer = null }, REMEMBERED_MS).unref()
    })
    return answer
  }
}
