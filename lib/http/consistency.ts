import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Repository } from '../storage/repository.ts'
import type { Standbys, UserReads } from '../storage/storage.ts'
import { CALLER, shareOf } from './caller.ts'
import { header } from './header-fields.ts'

const TOKEN = 'consistency-token'
// A text that is no position: who sends it is answered by the primary.
const PRIMARY = 'primary'

// Of errors, those that tell what is stored.
const TELLING = new Set([404, 409, 412, 422])

const tokenBy = (position: () => Promise<string>): Promise<string> => position().catch(() => PRIMARY)

/** Runs work of a caller when it has a place. */
type Limited = <Value>(work: () => Promise<Value>, caller: string) => Promise<Value>

/** Reads users for a request under the limit of reads, and gives it a token if it has sent one. */
export type ReadFor = <Value>(
  call: { request: FastifyRequest, reply: FastifyReply },
  read: (reads: UserReads) => Promise<Value>
) => Promise<Value>

/**
 * Makes the function that reads for requests: on a standby if there is one that has what the request's token stands
 * for. A client that always sends its latest token never sees less than it has seen. A read takes a place under the
 * limit once it waits for no standby, so that tokens can't take the places of others.
 */
export function readsOf ({ users, standbys }: Repository, limited: Limited): ReadFor {
  if (standbys === null) return ({ request }, read) => limited(() => read(users), shareOf(request))
  return async ({ request, reply }, read) => {
    const token = header(request, TOKEN)
    const reads = await standbys.reads(token)
    try {
      return await limited(() => read(reads ?? users), shareOf(request))
    } finally {
      // An error may tell what is stored too.
      if (token !== undefined) reply.header(TOKEN, await tokenBy(reads?.seen ?? standbys.position))
    }
  }
}

/**
 * Gives a token with each answer to a write of an admitted caller, which stands for the write and for all before it,
 * and with each answer to a read that was sent one.
 */
export function giveTokens (scope: FastifyInstance, { position }: Standbys): void {
  scope.addHook('onSend', async (request, reply, payload) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!request[CALLER] || reply.hasHeader(TOKEN) || (isRead && header(request, TOKEN) === undefined)) return
    const { statusCode } = reply
    // What a stream tells or writes may come after this, and what has failed may have been written.
    const isOpen = typeof payload === 'object' && payload !== null
    if (isOpen || (!isRead && statusCode >= 500)) reply.header(TOKEN, PRIMARY)
    else if (statusCode < 400 || TELLING.has(statusCode)) reply.header(TOKEN, await tokenBy(position))
  })
}
