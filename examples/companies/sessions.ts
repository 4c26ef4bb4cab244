import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Who is signed in, until when. */
export interface Session {
  tenant: string
  userId: string
  /** ISO 8601. */
  expiresAt: string
}

const HOURS = 8

/** Sessions in a signed cookie: what a session plugin does for you. `secret`: at least 32 random characters. */
export function createSessions (secret: string) {
  const signatureOf = (text: string): Buffer => createHmac('sha256', secret).update(text).digest()

  return {
    begin (reply: FastifyReply, { tenant, userId }: Pick<Session, 'tenant' | 'userId'>): void {
      const session: Session = { tenant, userId, expiresAt: new Date(Date.now() + HOURS * 3_600_000).toISOString() }
      const text = Buffer.from(JSON.stringify(session)).toString('base64url')
      const value = `${text}.${signatureOf(text).toString('base64url')}`
      reply.header('set-cookie', `session=${value}; Max-Age=${HOURS * 3600}; Path=/; HttpOnly; Secure; SameSite=Lax`)
    },

    /** The session of a request; null: it has none, or one that was forged or has expired. */
    of ({ headers: { cookie = '' } }: FastifyRequest): Session | null {
      const [, text = '', signature = ''] = /(?:^|; )session=([\w-]+)\.([\w-]+)/.exec(cookie) ?? []
      const given = Buffer.from(signature, 'base64url')
      const expected = signatureOf(text)
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
      const session: Session = JSON.parse(Buffer.from(text, 'base64url').toString())
      return session.expiresAt > new Date().toISOString() ? session : null
    }
  }
}
