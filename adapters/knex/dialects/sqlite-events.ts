import type { EventSql } from './dialect.ts'

/** The event log of SQLite: there is one writer, so events are written in the order of their commits. */
export const sqliteEvents: EventSql = {
  writtenOrder: 'position',
  number: null,
  columns: ({ quoted }) => `position integer NOT NULL CONSTRAINT ${quoted('events_position')} PRIMARY KEY`,
  // Each entry of an index ends with the position, which is the number of the row.
  create: ({ events, quoted }) => [
    `CREATE INDEX ${quoted('events_subject')} ON ${events} (subject)`,
    `CREATE INDEX ${quoted('events_type')} ON ${events} (type)`
  ],
  drop: () => []
}
