import { type Answer, type Client, LONGEST_WAIT, PATIENCE, wait } from '../api/client.ts'
import { errorOf } from '../../client/error.ts'
import { isObject, type Json, type JsonObject, type User } from '../api/types.ts'
import { randomKey } from '../../client/random-key.ts'

// As many in one step: a batch locks its users until it is done, and a person who stops waits for the step.
const TOGETHER = 100

/** What a selection needs to know of a user. */
export type Selected = Pick<User, 'id' | 'name' | 'status' | 'version'>
/** The tag of the version that the person has selected. */
export const tagOf = ({ version }: Pick<User, 'version'>): string => `"${version}"`
export type Change = { op: 'delete' | 'restore' } | { op: 'update', body: JsonObject }

/** What became of the users so far; the others wait. */
export interface Progress {
  done: readonly Selected[]
  refused: ReadonlyArray<{ user: Selected, error: unknown }>
}

interface Result { status: number, body: Json }

/** What the answer says of a user by now: a change that takes it back is one of that version. */
function afterwards (user: Selected, body: Json): Selected {
  const { version = user.version, status = user.status }: Partial<Selected> = isObject(body) ? body : {}
  return { ...user, version, status }
}

const isBusy = ({ status }: Result): boolean => status === 429 || status === 503

/** Sends changes of some users in one step. */
async function sendTogether (
  client: Client,
  users: readonly Selected[],
  change: Change
): Promise<{ results: Result[], retryAfter: number | null }> {
  const operations = users.map((user) => ({ ...change, id: user.id, ifMatch: tagOf(user) }))
  const answer: Answer<{ data: Result[] }> = await client.send('POST', '/users/batch', {
    headers: { 'idempotency-key': randomKey() },
    body: { operations },
    isPatient: true
  })
  return { results: answer.body.data, retryAfter: answer.retryAfter }
}

/**
 * Makes the same change to many users, step by step, where they still are as the person has selected them. Aborting
 * ends it after the step that is under way, whose outcome would not be known otherwise. A limit is waited for, if not
 * for long.
 */
export async function changeMany (
  client: Client,
  users: readonly Selected[],
  change: Change,
  { signal, onProgress }: { signal: AbortSignal, onProgress: (progress: Progress) => void }
): Promise<void> {
  const waiting = [...users]
  const done: Selected[] = []
  const refused: Array<Progress['refused'][number]> = []
  for (let tries = 1; waiting.length > 0 && !signal.aborted;) {
    const step = waiting.splice(0, TOGETHER)
    const answer = await sendTogether(client, step, change).catch((error: unknown) => {
      for (const user of step) refused.push({ user, error })
    })
    // The next steps would fail too.
    if (answer === undefined) break
    const { results, retryAfter } = answer
    const mayWait = retryAfter !== null && retryAfter <= LONGEST_WAIT && tries < PATIENCE
    const again: Selected[] = []
    let isLimited = false
    for (const [i, user] of step.entries()) {
      const result = results[i] ?? { status: 0, body: null }
      const isGone = result.status === 404 && change.op === 'delete'
      if (isGone) done.push(user)
      else if (result.status >= 200 && result.status < 300) done.push(afterwards(user, result.body))
      else if (isBusy(result) && mayWait) again.push(user)
      else {
        refused.push({ user, error: errorOf(result.status, result.body, isBusy(result) ? retryAfter : null) })
        if (isBusy(result)) isLimited = true
      }
    }
    waiting.unshift(...again)
    onProgress({ done: [...done], refused: [...refused] })
    if (isLimited) break
    tries = again.length > 0 ? tries + 1 : 1
    if (again.length > 0) await wait(Math.max(1, retryAfter ?? 1), signal).catch(() => {})
  }
  onProgress({ done: [...done], refused: [...refused] })
}
