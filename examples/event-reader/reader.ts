/**
 * Reads the event log so that every event has its effect exactly once: the effect, and the place that is reached, are
 * written in one transaction. Any number of processes may run it, and any of them may be killed at any moment.
 */
import type { LoggedEvent, Users } from 'fastify-users'
import type { Knex } from 'knex'

export interface ReaderOptions {
  users: Users
  /** Where the effects are written. It may be another database than that of the users. */
  knex: Knex
  /** The name of this reader. Readers with other effects have other names. */
  name: string
  /** Writes the effect of an event. If it throws, nothing of it stays, and the reader ends. */
  apply: (trx: Knex.Transaction, event: LoggedEvent) => Promise<void>
  signal: AbortSignal
}

/**
 * Reads until the signal is aborted.
 * @throws what `apply` throws; UsersError `events_expired` if events are gone that were not read, `position_unknown` if
 * the log does not have the place that was reached, as after a backup of the users alone was restored
 */
export async function readEvents ({ users, knex, name, apply, signal }: ReaderOptions): Promise<void> {
  await knex.raw('CREATE TABLE IF NOT EXISTS event_readers (name varchar(100) PRIMARY KEY, position varchar(40))')
  await knex('event_readers').insert({ name, position: null }).onConflict('name').ignore()

  /** Moves the place from one event to the next, with its effect. False if another process was faster. */
  const take = (before: string | null, event: LoggedEvent): Promise<boolean> => knex.transaction(async (trx) => {
    // The row is the lock: who comes second waits here, and then finds another place.
    const moved = await trx('event_readers').where({ name, position: before }).update({ position: event.id })
    if (moved === 1) await apply(trx, event)
    return moved === 1
  })

  while (!signal.aborted) {
    const reader = await knex('event_readers').where({ name }).first('position')
    let position: string | null = reader?.position ?? null
    for await (const event of users.events.after(position, { signal })) {
      // Read on behind the other process.
      if (!await take(position, event)) break
      position = event.id
    }
  }
}
