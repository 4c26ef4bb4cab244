import assert from 'node:assert/strict'
import type { EventLog, EventRecord, EventsRequest, NewEvent } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { idOf, timeOf } from './values.ts'

/** The nth event to record, with the same members each time unless some are given. */
export function eventOf (n: number, type: string, members: Partial<NewEvent> = {}): NewEvent {
  return {
    id: idOf('evt', n),
    type,
    timestamp: timeOf(n),
    actor: { type: 'api_key', id: idOf('key', 7), name: 'Key 7' },
    requestId: `req-${n}`,
    ...members
  }
}

/** The event log of a store that says that it has one. */
export function logOf ({ eventLog }: KitStorage): EventLog {
  assert.ok(eventLog !== undefined, 'the store says supports.eventLog, so it needs `eventLog`')
  return eventLog
}

/** A part of the log that must be there. */
export async function readEvents (storage: KitStorage, request: Partial<EventsRequest> = {}): Promise<EventRecord[]> {
  const page = await logOf(storage).read({ after: null, limit: 100, types: null, ...request })
  assert.ok(page !== null, 'eventLog.read: the event to read after is there')
  return page.events
}

/** The whole log, read on after the last event of each page. */
export async function readWholeLog (storage: KitStorage, limit = 100): Promise<EventRecord[]> {
  const all: EventRecord[] = []
  while (true) {
    const page = await logOf(storage).read({ after: all.at(-1)?.id ?? null, limit, types: null })
    assert.ok(page !== null, 'eventLog.read: the event to read after is there')
    all.push(...page.events)
    if (!page.more) return all
    assert.equal(page.events.length, limit, 'eventLog.read: where more follows, the page is full')
  }
}
