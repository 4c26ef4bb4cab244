import type { JsonObject } from '../core/json.ts'

/** Who caused a change. */
export interface Actor {
  type: string
  id: string
  /** What it was called then; null: it had no name. */
  name: string | null
}

/** What a write records in the same step. The store adds whose it is, the record after it, and what was before. */
export interface NewEvent {
  /** `evt_…`, made by the caller. */
  id: string
  /** Such as `user.updated`. */
  type: string
  timestamp: string
  /** Who caused the change; null: the host, in process. */
  actor: Actor | null
  requestId: string | null
  /** The id of the event whose change is undone. Absent: it is no reversal. */
  reverts?: string
}

/** A recorded change. */
export interface EventRecord extends NewEvent {
  /** The id of the changed user or key. For a rotation, the id of the successor. */
  subject: string
  /**
   * The `UserRecord`, or the `ApiKeyRecord` without `digest`, after the change; of a deletion the last state. Erased:
   * `name`, `email`, `statusReason` and each member of `fields` are null.
   */
  data: JsonObject
  /**
   * For a change of a user: the previous values of the members of `name`, `email`, `fields`, `status` and
   * `statusReason` that changed. After an erasure all but `status` are null.
   */
  before: JsonObject | null
  /** The tenant of the user, key or webhook. Absent: it belongs to none. */
  tenant?: string
}

/** Which recorded events are read. All that is asked for must hold. */
export interface EventsRequest {
  /** Only events after the event with this id, in the given order; null: from the beginning. */
  after: string | null
  /** At most this many. */
  limit: number
  /** Only events of these types (an empty list matches none); null: of all types. */
  types: readonly string[] | null
  /** `asc`, the default: in the order of commits. `desc`: that order reversed, the newest first. */
  order?: 'asc' | 'desc'
  /** Only events of the user, key or webhook with this id. */
  subject?: string
  /** Only changes that the actor with this id made. */
  actor?: string
  /** Only events whose `timestamp` is at least this one, in UTC with milliseconds. */
  since?: string
  /** Only events whose `timestamp` is earlier than this one. */
  until?: string
  /** Only events of this tenant. */
  tenant?: string
}

/** What is left of the pruned events of one type. */
export interface PrunedEvents {
  type: string
  /** The id of the last one. */
  id: string
  /** The greatest id of all events, of any type, up to that one in the order of the log. */
  greatestId: string
}

/** A part of the event log, and whether more follows at this moment. */
export interface EventsPage {
  events: EventRecord[]
  more: boolean
  /**
   * Where to read on: if more follows, the id of the last of `events`; else the id of the last event of the log, of any
   * type. In the order `desc`: the id of the last event of the log, on the first page only. null: the log is empty.
   */
  position: string | null
  /** In the order `desc`, of a `subject`: how many events are asked for, those on other pages too. */
  total?: number
}
