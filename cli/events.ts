import { UsersError } from '../lib/core/errors.ts'
import type { Actor, Storage } from '../lib/storage/storage.ts'
import { createEventLog } from '../lib/events/log.ts'
import { NOW } from '../lib/events/rules.ts'
import { eventPresenter } from '../lib/events/presenter.ts'
import { createTail } from '../lib/events/tail.ts'
import type { LoggedEvent } from '../lib/events/types.ts'
import { callOf, type TenantOptions } from './common.ts'
import { Refusal, UsageError } from './failure.ts'
import type { Output } from './output.ts'
import { printable } from './printable.ts'

const PAGE = 100
/** `59 minutes ago` and the like, so that what follows is aligned. */
const LONGEST_AGO = 14

/** Which events are meant. */
export interface EventOptions {
  type?: string
  subject?: string
  actor?: string
  since?: string
}

export interface EventListOptions extends EventOptions {
  until?: string
  limit?: string
}

export interface TailOptions extends EventOptions {
  after?: string
  /** Go on with the events that come. */
  follow: boolean
}

/** Who made a change, in a line. */
export function actorText (actor: Actor | null): string {
  if (actor === null) return '-'
  const name = actor.name === null ? '' : ` (${printable(actor.name)})`
  return `${actor.type}:${actor.id.replace(/[\p{C}\p{Z}]/gu, '?')}${name}`
}

/** The members that an event changed, without their values. */
function changedIn ({ before = {} }: LoggedEvent): string {
  const members = Object.keys(before)
  return members.length === 0 ? '' : `  [${members.map(printable).join(', ')}]`
}

/** An event in a line, without the values of a user: a log is followed into files. */
function tailLine (event: LoggedEvent): string {
  const { id, type, data, actor, timestamp } = event
  return `${timestamp}  ${type.padEnd(15)}  ${String(data['id'])}${changedIn(event)}  ${actorText(actor)}  ${id}`
}

/** An event in a line for people, with the name of the user or key, while it is kept. */
function listLine (event: LoggedEvent, when: string): string {
  const { id, type, data, actor } = event
  const who = 'name' in data && typeof data.name === 'string' ? `${data.id} (${printable(data.name)})` : data.id
  return `${when}  ${type.padEnd(15)}  ${who}${changedIn(event)}  by ${actorText(actor)}  ${id}`
}

/** The log of a storage, and what prints its events. */
function logOf ({ log }: Storage, output: Output, options: TenantOptions) {
  const service = createEventLog({
    log,
    // Own fields as they are stored: the command line does not know the host's schema.
    present: eventPresenter({ pastFields: (fields) => fields, showsTenant: true }),
    pageSize: { default: PAGE, max: PAGE },
    hasUser: async () => false,
    // What was pruned says which positions are too old.
    retention: Infinity,
    tail: createTail()
  })
  async function print (events: readonly LoggedEvent[], lineOf = tailLine): Promise<void> {
    for (const event of events) await (output.json ? output.value(event) : output.line(lineOf(event)))
  }
  return { service, print, call: callOf(options) }
}

/** The parameters of the feed that options name. */
function queryOf ({ type, subject, actor, since, until }: EventListOptions): Record<string, unknown> {
  const given = Object.entries({ type, subject, actor, since, until })
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** Prints the newest events, the newest first. */
export async function listEvents (
  storage: Storage, output: Output, options: EventListOptions & TenantOptions
): Promise<void> {
  const { limit = '20' } = options
  const { service, print, call } = logOf(storage, output, options)
  const query = { ...queryOf(options), order: 'desc', limit: /^\d+$/.test(limit) ? Number(limit) : limit }
  const { events } = await service.feed(query, call)
  await print(events, (event) => listLine(event, output.moment(event.timestamp).padEnd(LONGEST_AGO)))
}

/**
 * Prints the events of the log, oldest first, and with `follow` those that come until the signal is
 * aborted. @throws UsageError, UsersError
 */
export async function tailEvents (
  storage: Storage,
  output: Output,
  { after, follow, ...options }: TailOptions & TenantOptions,
  signal: AbortSignal
): Promise<void> {
  if (after === NOW && !follow) throw new UsageError('--after now needs --follow')
  const { service, print, call } = logOf(storage, output, options)
  const query = { ...queryOf(options), ...(after !== undefined && { after }) }
  if (follow) {
    const { parts } = await service.follow(query, call)
    // A process that only waits for events would end.
    const waiting = setInterval(() => {}, 60_000)
    try {
      for await (const { events } of parts(signal)) {
        await print(events)
        if (!output.isWhole()) return
      }
    } finally {
      clearInterval(waiting)
    }
    return
  }
  for (let next: object = query, more = true; more && !signal.aborted && output.isWhole();) {
    const page = await service.feed({ ...next }, call)
    await print(page.events)
    more = page.more
    next = { ...query, after: page.position }
  }
}

/** Says what to do where events are missing. */
export function explained (error: unknown): unknown {
  if (!(error instanceof UsersError) || error.code !== 'events_expired') return error
  return new Refusal('events after this one are no longer kept: leave out --after to begin with the oldest event')
}
