import type { Attempt, Delivery, Webhook } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'
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

const BADGES = { pending: 'badge soon', succeeded: 'dot', failed: 'badge bad' }

/** What became of a delivery; of one that has failed and is tried again by itself, when. */
export function DeliveryStatus ({ delivery: { status, attempts, nextAttemptAt } }: { delivery: Delivery }) {
  const { say, ago } = useSpeech()
  const isLater = nextAttemptAt !== undefined && Date.parse(nextAttemptAt) > Date.now()
  return (
    <span class={BADGES[status]}>
      {status === 'pending' && attempts.length > 0 && isLater
        ? say('hooks.willTry', { count: attempts.length, when: ago(nextAttemptAt) })
        : say(`hooks.${status}`)}
    </span>
  )
}

/** What came of a delivery so far, in one line: the answer, how long it took, when, and what comes next. */
export function DeliveryLine ({ delivery }: { delivery: Delivery }) {
  const speech = useSpeech()
  const { say, ago } = speech
  const { attempts, status, nextAttemptAt } = delivery
  const last = attempts[attempts.length - 1]
  if (last === undefined) return <DeliveryStatus delivery={delivery} />
  const isSuccess = status === 'succeeded'
  const nextOf = (at: string): string =>
    Date.parse(at) > Date.now() ? say('hooks.nextIn', { when: ago(at, true) }) : say('hooks.due')
  const next = nextAttemptAt === undefined ? '' : nextOf(nextAttemptAt)
  return (
    <span class='delivery'>
      <span class={BADGES[status]} title={sayResult(speech, last)}>
        {last.status ?? sayResult(speech, last)}
      </span>
      <span class='muted'>
        {say('hooks.took', { milliseconds: last.milliseconds })} · <Ago moment={last.at} isShort />
        {(attempts.length > 1 || !isSuccess) && ` · ${say('hooks.attemptNo', { count: attempts.length })}`}
        {next !== '' && `, ${next}`}
      </span>
    </span>
  )
}

/** Whether a webhook gets events, in a colour and in words. */
export function WebhookStatus ({ webhook: { enabled, disabledReason, failingSince } }: { webhook: Webhook }) {
  const { say, time } = useSpeech()
  if (!enabled) {
    const text = disabledReason === undefined ? 'hooks.disabled' : `hooks.${disabledReason}` as const
    return <span class={disabledReason === undefined ? 'badge' : 'badge bad'}>{say(text)}</span>
  }
  return failingSince === undefined
    ? <span class='dot'>{say('hooks.enabled')}</span>
    : <span class='badge bad'>{say('hooks.failingSince', { when: time(failingSince) })}</span>
}
