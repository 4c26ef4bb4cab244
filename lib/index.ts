import type { Users } from './mount/all-users.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The users of fastify-users, in process. */
    users: Users
  }
}

export * from './exports.ts'
export { default } from './exports.ts'
