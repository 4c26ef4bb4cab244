import type { RequestCaller } from './http/admission/guard.ts'
import type { Users } from './mount/all-users.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The users of fastify-users, in process. */
    users: Users
  }

  interface FastifyRequest {
    /** Who `app.users.guard()` let in; null on a route without it. */
    caller: RequestCaller | null
  }
}

export * from './exports.ts'
export { default } from './exports.ts'
