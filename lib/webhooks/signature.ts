import { createHmac, randomBytes } from 'node:crypto'
import type { WebhookSecret } from '../storage/storage.ts'

// Standard Webhooks 1.0.0, "Signature scheme": 192 to 512 bits, here 256.
const SECRET_BYTES = 32
const PREFIX = 'whsec_'

/** A new secret: `whsec_` and 256 random bits in base64. */
export function newSecret (): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** The secrets that are in force at a time: the current one, and those before it whose overlap has not ended. */
export function currentSecrets (secrets: readonly WebhookSecret[], now: string): WebhookSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
}

/** What is signed: the value of `webhook-id`, that of `webhook-timestamp` (seconds), and the body as it is sent. */
export interface Signed {
  id: string
  timestamp: number
  body: string
}

/** `webhook-signature`: one `v1` signature (HMAC-SHA-256) for each secret, separated by spaces. */
export function signatureOf (secrets: readonly WebhookSecret[], { id, timestamp, body }: Signed): string {
  return secrets.map(({ text }) => {
    const hmac = createHmac('sha256', Buffer.from(text.slice(PREFIX.length), 'base64'))
    return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
  }).join(' ')
}
