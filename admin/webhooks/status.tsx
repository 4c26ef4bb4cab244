import type { Attempt, Delivery, Webhook } from '../api/types.ts'
import { type Speech, useSpeech } from '../state/texts.ts'

/** Why there was no answer, as the API names it. */
const ERRORS = [
  'busy', 'connection_closed', 'dns', 'event_expired', 'network', 'no_http', 'timeout', 'tls', 'unreachable',
  'url_not_allowed'
] as const

/** What came of an attempt: what the receiver answered, or why it did not. */
export function sayResult ({ say }: Speech, { status, error = '' }: Attempt): string {
  if (status !== undefined) {
    const isSuccess = status >= 200 && status < 300
    return say(isSuccess ? 'hooks.answered' : 'hooks.answeredError', { status: String(status) })
  }
  const known = ERRORS.find((each) => each === error)
  return known === undefined ? error : say(`hooks.error.${known}`)
}

export function sayAttempt (speech: Speech, attempt: Attempt): string {
  const { at, milliseconds } = attempt
  return speech.say('hooks.attempt', { when: speech.time(at), result: sayResult(speech, attempt), milliseconds })
}

const BADGES = { pending: 'soon', succeeded: 'on', failed: 'off' }

/** What became of a delivery; of one that has failed and is tried again by itself, when. */
export function DeliveryStatus ({ delivery: { status, attempts, nextAttemptAt } }: { delivery: Delivery }) {
  const { say, ago } = useSpeech()
  const isLater = nextAttemptAt !== undefined && Date.parse(nextAttemptAt) > Date.now()
  return (
    <span class={`badge ${BADGES[status]}`}>
      {status === 'pending' && attempts.length > 0 && isLater
        ? say('hooks.willTry', { count: attempts.length, when: ago(nextAttemptAt) })
        : say(`hooks.${status}`)}
    </span>
  )
}

/** Whether a webhook gets events, in a colour and in words. */
export function WebhookStatus ({ webhook: { enabled, disabledReason, failingSince } }: { webhook: Webhook }) {
  const { say, time } = useSpeech()
  if (!enabled) {
    const text = disabledReason === undefined ? 'hooks.disabled' : `hooks.${disabledReason}` as const
    return <span class='badge off'>{say(text)}</span>
  }
  return failingSince === undefined
    ? <span class='badge on'>{say('hooks.enabled')}</span>
    : <span class='badge soon'>{say('hooks.failingSince', { when: time(failingSince) })}</span>
}
