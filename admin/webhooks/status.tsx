import type { Attempt, Delivery, Webhook } from '../api/types.ts'
import { type Speech, useSpeech } from '../state/texts.ts'

/** What came of an attempt: a status, or a word for why there was none. */
export function resultOf ({ status, error }: Attempt): string {
  return status === undefined ? error ?? '' : String(status)
}

export function sayAttempt ({ say, time }: Speech, attempt: Attempt): string {
  const { at, milliseconds } = attempt
  return say('hooks.attempt', { when: time(at), result: resultOf(attempt), milliseconds })
}

const BADGES = { pending: 'soon', succeeded: 'on', failed: 'off' }

export function DeliveryStatus ({ status }: Pick<Delivery, 'status'>) {
  const { say } = useSpeech()
  return <span class={`badge ${BADGES[status]}`}>{say(`hooks.${status}`)}</span>
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
