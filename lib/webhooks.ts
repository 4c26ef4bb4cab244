import type { Webhooks } from './webhooks/in-process.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The webhooks of fastify-users, in process. */
    webhooks: Webhooks
  }
}

export * from './webhooks-plugin.ts'
export { default } from './webhooks-plugin.ts'
