import type { EventSql } from '../dialect.ts'
import { postgresEvents } from '../postgres/events.ts'

/**
 * The event log of the portable profile. A row says which position is the last. Whoever writes events takes the next
 * ones from it and keeps the row locked until its commit: so positions are in the order of commits, and others who
 * write events wait that long.
 */
export const portableEvents: EventSql = {
  writtenOrder: 'position',
  take: ({ eventState }) => `UPDATE ${eventState} SET last_position = last_position + $1::integer ` +
    'RETURNING last_position AS last',
  restart: () => [],
  number: null,
  between: postgresEvents.between,
  columns: ({ quoted }) => `position bigint NOT NULL CONSTRAINT ${quoted('events_position')} PRIMARY KEY`,
  create: ({ events, eventState, quoted }) => [
    `CREATE INDEX ${quoted('events_subject')} ON ${events} (subject, position)`,
    `CREATE INDEX ${quoted('events_type')} ON ${events} (type, position)`,
    `CREATE TABLE ${eventState} (
        singleton integer NOT NULL DEFAULT 1 CONSTRAINT ${quoted('event_state_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('event_state_singleton')} CHECK (singleton = 1),
        last_position bigint NOT NULL
      ) WITH (fillfactor = 10)`,
    `INSERT INTO ${eventState} (last_position) VALUES (0)`
  ],
  drop: ({ eventState }) => [`DROP TABLE ${eventState}`]
}
