import type { Principal } from './api-keys/authenticator.ts'

/** Who causes a change, and in which request. */
export interface Context {
  /** The caller over HTTP; null in process. */
  actor: Pick<Principal, 'type' | 'id'> | null
  /** Fastify's id of the request; null in process. */
  requestId: string | null
}

/** The context of a change that the host makes in process. */
export const IN_PROCESS: Context = Object.freeze({ actor: null, requestId: null })
