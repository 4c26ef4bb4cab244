import type { DeliveryAttempt, DeliveryRecord, WebhookRecord } from '../storage/storage.ts'
import { EXPIRED } from './deliver.ts'
import type { Answer } from './send.ts'

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
const DAY = 24 * HOUR

/**
 * How long after the first, the second, … failed attempt the next one is due (Standard Webhooks 1.0.0, "Deliverability
 * and reliability"): ten attempts within about three days.
 */
export const DELAYS: readonly number[] = [
  5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR
]
/** Disable an endpoint after five days without a success. */
export const FAILING_MAX = 5 * DAY
// Add up to a tenth to each delay, so that deliveries that failed together are not retried together.
const JITTER = 0.1
const RETRY_AFTER_MAX = DAY
// The three forms of an HTTP date (RFC 9110 section 5.6.7): IMF-fixdate, that of RFC 850, and that of asctime().
const FIXED_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const RFC_850_DATE = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/
// Without `Retry-After`, pause the endpoint for at most 5 minutes.
const PAUSE_MAX = 5 * MINUTE
/** Keep the latest 20 attempts of a delivery. */
const ATTEMPTS_KEPT = 20

/** True if the status means that a delivery succeeded. */
export function isSuccess (status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** An HTTP date in epoch milliseconds; NaN if the text is not one. */
function readHttpDate (text: string): number {
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`)
  return FIXED_DATE.test(text) || RFC_850_DATE.test(text) ? Date.parse(text) : NaN
}

/**
 * How long `Retry-After` asks to wait, in milliseconds: seconds or a date (RFC 9110 section 10.2.3). `null` if it does
 * not.
 */
export function retryAfterOf (text: string | null, now: number): number | null {
  if (text === null) return null
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : readHttpDate(text) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX)
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** The delivery and its endpoint after an attempt. */
export interface Outcome {
  /** The same object if nothing about it has changed. */
  webhook: WebhookRecord
  delivery: DeliveryRecord
  /** True if the attempt disables the endpoint. */
  disabled: boolean
}

function succeeded (webhook: WebhookRecord, delivery: DeliveryRecord): Outcome {
  return {
    // Keep a pause that the receiver requested in another attempt.
    webhook: webhook.failingSince === null ? webhook : { ...webhook, failingSince: null },
    delivery: { ...delivery, status: 'succeeded', dueAt: null },
    disabled: false
  }
}

/** When the next attempt is due, in epoch milliseconds; `null` if no attempt is left. */
function nextAttempt (failures: number, wait: number | null, now: number, random: number): number | null {
  const delay = DELAYS[failures - 1]
  return delay === undefined ? null : now + Math.max(delay * (1 + JITTER * random), wait ?? 0)
}

function later (a: string | null, b: string): string {
  return a !== null && a > b ? a : b
}

/** An attempt as it is stored. `at`: when it began. */
export function attemptOf ({ status, error, milliseconds, response }: Answer, at: string): DeliveryAttempt {
  // The answer to a success says nothing that somebody would mend, and may repeat what was sent of a person.
  const kept = isSuccess(status) || response === undefined ? {} : { response }
  return { at, status, milliseconds, error, ...kept }
}

/**
 * Judges an attempt. `random`: from 0 to 1. A delivery that got 410 stays pending, so that it can be retried once
 * its webhook is enabled again.
 */
export function outcomeOf (
  webhook: WebhookRecord,
  before: DeliveryRecord,
  answer: Answer,
  now: number,
  random: number
): Outcome {
  const { status, error, milliseconds, retryAfter } = answer
  const attempt = attemptOf(answer, iso(now - milliseconds))
  const delivery = { ...before, attempts: [...before.attempts, attempt].slice(-ATTEMPTS_KEPT) }
  if (isSuccess(status)) return succeeded(webhook, delivery)
  // The event is no longer kept: nothing was sent, and nothing can be sent.
  if (error === EXPIRED) return { webhook, delivery: { ...delivery, status: 'failed', dueAt: null }, disabled: false }
  const isSlowedDown = status === 429 || status === 503
  const wait = isSlowedDown ? retryAfterOf(retryAfter, now) : null
  const failures = before.failures + 1
  const next = nextAttempt(failures, wait, now, random)
  const failingSince = webhook.failingSince ?? attempt.at
  const found = status === 410 ? 'gone' : now - Date.parse(failingSince) >= FAILING_MAX ? 'failing' : null
  // If the endpoint was disabled in the meantime, keep that reason.
  const reason = webhook.enabled ? found : null
  const pause = wait ?? Math.min(DELAYS[before.failures] ?? PAUSE_MAX, PAUSE_MAX)
  return {
    webhook: {
      ...webhook,
      failingSince,
      ...(isSlowedDown && { pausedUntil: later(webhook.pausedUntil, iso(now + pause)) }),
      ...(reason !== null && { enabled: false, disabledReason: reason, updatedAt: iso(now) })
    },
    delivery: { ...delivery, failures, ...next === null ? { status: 'failed', dueAt: null } : { dueAt: iso(next) } },
    disabled: reason !== null
  }
}
