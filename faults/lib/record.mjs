/**
 * What clients asked for, and what they were answered. Each operation is noted before it is sent and after it has
 * ended: one that has no answer may have happened or not.
 *
 * An operation: `kind` (create, patch, delete, get, list), `client`, what it asked for (`email`, `name`, `id`,
 * `ifMatch`, `key` of idempotency, `race`: others want the address too), `sent` and `ended` (`performance.now()`),
 * `status` (null: no whole answer), `error`, `retryAfter`, and `answer`, the body.
 */
export function createRecord () {
  const operations = []
  let acknowledged = 0
  return {
    operations,
    acknowledged: () => acknowledged,
    begin (operation) {
      operations.push(Object.assign(operation, { sent: performance.now(), ended: null, status: null }))
      return operation
    },
    end (operation, outcome) {
      Object.assign(operation, outcome, { ended: performance.now() })
      if (isWrite(operation) && isOk(operation)) acknowledged++
    }
  }
}

export const isWrite = ({ kind }) => kind === 'create' || kind === 'patch' || kind === 'delete'
export const isOk = ({ status }) => status !== null && status >= 200 && status < 300
/** It may have happened: no answer, or one that says nothing about it. */
export const isUnknown = ({ status }) => status === null || status >= 500
