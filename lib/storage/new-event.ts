import type { Context } from '../core/context.ts'
import { newId } from '../core/ids.ts'
import type { NewEvent } from './storage.ts'

/** Makes what a store records of a change; null without an event log. */
export type MakeEvent = (type: string, context: Context) => NewEvent | null

/** What a store records of a change that is made now. */
export function newEvent (type: string, { actor, requestId }: Context): NewEvent {
  // Before the id, which is then not older: who asks for events since this time gets the event itself.
  const timestamp = new Date().toISOString()
  return { id: newId('evt'), type, timestamp, actor, requestId }
}
