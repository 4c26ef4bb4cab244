import type { ApiKey } from '../api/types.ts'
import { Time } from '../parts/feedback.tsx'
import { daysUntil, useSpeech } from '../state/texts.ts'

const DAY_MS = 86_400_000
/** Days before its end from which a key is said to expire soon: a seventh of its life, within these bounds. */
const SOON_DAYS = { least: 14, most: 30 }

function isSoon ({ createdAt, expiresAt }: ApiKey): boolean {
  if (expiresAt === undefined) return false
  const end = Date.parse(expiresAt)
  const seventh = (end - Date.parse(createdAt)) / DAY_MS / 7
  return end - Date.now() < Math.max(SOON_DAYS.least, Math.min(SOON_DAYS.most, seventh)) * DAY_MS
}

export function isActive ({ revokedAt, expiresAt }: ApiKey): boolean {
  return revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > Date.now())
}

/** What a key can be, from the one that needs nobody to the one that nobody can use. */
export const KEY_STATES = ['active', 'soon', 'expired', 'revoked'] as const

export function stateOf (apiKey: ApiKey): typeof KEY_STATES[number] {
  if (apiKey.revokedAt !== undefined) return 'revoked'
  if (!isActive(apiKey)) return 'expired'
  return isSoon(apiKey) ? 'soon' : 'active'
}

/** Whether a key can be used, in a colour and in words. */
export function KeyStatus ({ apiKey }: { apiKey: ApiKey }) {
  const { say, ago, time } = useSpeech()
  const { revokedAt, expiresAt } = apiKey
  if (revokedAt !== undefined) {
    return <span class='badge bad' title={time(revokedAt)}>{say('keys.revoked', { when: ago(revokedAt) })}</span>
  }
  if (!isActive(apiKey)) return <span class='badge'>{say('keys.expired')}</span>
  if (expiresAt === undefined || !isSoon(apiKey)) return <span class='dot'>{say('keys.active')}</span>
  const isToday = Date.parse(expiresAt) - Date.now() < DAY_MS
  return (
    <span class='badge soon'>
      {isToday ? say('keys.today') : say('keys.soon', { count: daysUntil(expiresAt) })}
    </span>
  )
}

export function Expiry ({ apiKey: { expiresAt } }: { apiKey: ApiKey }) {
  const { say } = useSpeech()
  return expiresAt === undefined ? <>{say('page.never')}</> : <Time moment={expiresAt} />
}
