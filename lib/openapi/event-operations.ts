import type { PageSize } from '../core/paging.ts'
import { feedParameters, historyParameters } from '../events/rules.ts'
import { userId } from './component-parts.ts'
import type { Operation } from './operation.ts'

const tag = 'events'

/** The operations on events, for descriptions. */
export function eventOperations (pageSize: PageSize): Record<'feed' | 'history', Operation> {
  return {
    feed: {
      tag,
      operationId: 'listEvents',
      summary: 'Read the event log',
      description: 'What comes after the last event that you have seen, in the order of commits: each event exactly ' +
        'once. With `Accept: text/event-stream` the same as Server-Sent Events, and then those that come; ' +
        '`Last-Event-ID` continues. Too many open streams of a key are 429, and of all keys 503. HEAD works too.',
      query: feedParameters(pageSize),
      reads: ['Last-Event-ID'],
      success: { status: 200, description: 'The events.', is: 'EventList', stream: true, headers: ['Link', 'Vary'] },
      codes: ['validation_failed', 'events_expired', 'rate_limited']
    },
    history: {
      tag,
      id: userId,
      operationId: 'listUserEvents',
      summary: 'Read the history of a user',
      description: 'Newest first, also of a user that was deleted. HEAD works too.',
      query: historyParameters(pageSize),
      success: { status: 200, description: 'The page.', is: 'UserEventList', headers: ['Link'] },
      codes: ['validation_failed', 'user_not_found']
    }
  }
}
