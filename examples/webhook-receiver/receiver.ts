/**
 * A receiver of webhooks that keeps a copy of the users in a database of its own. Each event is verified, and handled
 * once however often it comes; those of one user may come out of order.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

export interface ReceiverOptions {
  /** `whsec_…`, as the answer to the creation of the webhook has it. */
  secret: string
  knex: Knex
}

interface UserEvent {
  id: string
  type: string
  data: { id: string, name: string | null, email: string | null, version: number }
}

async function createTables (knex: Knex): Promise<void> {
  await knex.raw('CREATE TABLE IF NOT EXISTS handled_events (id varchar(30) PRIMARY KEY)')
  await knex.raw(`CREATE TABLE IF NOT EXISTS user_copies (
    id varchar(30) PRIMARY KEY, name text, email text, version integer NOT NULL, deleted integer NOT NULL)`)
}

/** Handles an event, in one transaction: it is handled if and only if it is noted as handled. */
async function handle (knex: Knex, { id: event, type, data }: UserEvent): Promise<void> {
  await knex.transaction(async (trx) => {
    const noted = await trx('handled_events').insert({ id: event }).onConflict('id').ignore().returning('id')
    if (noted.length === 0 || !type.startsWith('user.')) return
    const { id, name, email, version } = data
    // An older version does not replace a newer one. A deletion has the version of the user that it ended, and only a
    // restored user has a greater one.
    const copy = type === 'user.deleted'
      ? { id, name: null, email: null, version, deleted: 1 }
      : { id, name, email, version, deleted: 0 }
    await trx('user_copies').insert(copy).onConflict('id').merge().where('user_copies.version', '<', version)
      .orWhere({ 'user_copies.version': version, 'user_copies.deleted': 0 })
  })
}

/** Builds the receiver. It listens at `POST /hooks/users`. */
export async function buildReceiver ({ secret, knex }: ReceiverOptions): Promise<FastifyInstance> {
  const app = Fastify()
  const webhook = new Webhook(secret)
  await createTables(knex)

  // The signature is of the body as it came, so it must not be parsed first.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, async (_request: unknown, body: string) =>
    body)

  app.post<{ Body: string }>('/hooks/users', async (request, reply) => {
    const header = (name: string): string => String(request.headers[name])
    try {
      webhook.verify(request.body, {
        'webhook-id': header('webhook-id'),
        'webhook-timestamp': header('webhook-timestamp'),
        'webhook-signature': header('webhook-signature')
      })
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      return reply.code(401).send()
    }
    await handle(knex, JSON.parse(request.body))
    return reply.code(204).send()
  })
  return app
}
