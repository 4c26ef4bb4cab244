import type { Names } from '../../tables/names.ts'
import type { EventSql } from '../dialect.ts'
import { dropFunction, withSchema } from './functions.ts'

export const NUMBER_EVENTS = 'number_events'

/**
 * A function that gives events their positions after they were committed. Neither a sequence nor a transaction id is in
 * the order of commits: a reader that goes by it misses what commits later with a smaller one, or must wait for the
 * oldest open transaction. A position that is given afterwards waits for nobody. Of one user, a version is committed
 * before the next one can be written, so both orders agree.
 *
 * `frontier`: the place in the sequence that the search has reached. What it did not see up to there is in `gaps`:
 * taken by transactions that are open or were rolled back. Only the gaps and what is beyond the frontier are searched,
 * so a call does not pass the index entries of the events that were numbered while a transaction stays open, which
 * can't be removed before that has ended. Only what is rolled back meanwhile adds gaps.
 *
 * Events that an erasure has locked stay in the gaps: readers need not wait for its transaction, and nothing else of
 * their user can come before it ends. Events of others that are committed meanwhile precede them.
 *
 * Gaps up to a place that the frontier had at an earlier call (`settling`) are dropped once all transactions have ended
 * that may have taken a place up to it: each had its id by then, since it has written or locked its user before, and so
 * a smaller one than that call's transaction, which took its own afterwards (`settling_xid`). A greater one than ours
 * comes from the cluster that a dump was made of.
 *
 * No plan is compiled: with scans switched off that of the state seems dear enough, and takes 27 ms instead of one.
 *
 * It runs with the rights of its owner: who writes events need not have any on the sequence and on the state. Who calls
 * it holds up all others until the end of the transaction, so that is a right of its own.
 */
function numberEvents ({ quoted }: Names): string {
  const table = `@${quoted('events')}`
  const state = `@${quoted('event_state')}`
  const unnumbered = `SELECT sequence FROM ${table} WHERE position IS NULL AND`
  // With a limit, each gap is looked up by itself. A join may walk through the whole index instead, since statistics
  // say that no event is without a position.
  const inGaps = (lock: string) => 'pg_catalog.unnest(known.gaps) AS gap, LATERAL (' +
    `${unnumbered} sequence >= lower(gap) AND sequence < upper(gap) ORDER BY sequence LIMIT most${lock}) AS in_gap`
  const lock = ' FOR NO KEY UPDATE SKIP LOCKED'
  return `CREATE FUNCTION @${quoted(NUMBER_EVENTS)}(most integer, OUT numbered integer, OUT newest bigint)
      LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = pg_catalog, pg_temp
        SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
      AS $body$
      DECLARE
        place bigint;
        known ${state}%ROWTYPE;
        is_settled boolean;
        found_sequences bigint[];
      BEGIN
        SELECT * INTO known FROM ${state};
        -- The usual case of a reader that has seen everything: nothing is written.
        IF NOT EXISTS (${unnumbered} sequence > known.frontier)
          AND NOT EXISTS (SELECT FROM ${inGaps('')}) THEN
          -- After the search, since another call may have numbered meanwhile what it did not find.
          SELECT 0, last_position INTO numbered, newest FROM ${state};
          RETURN;
        END IF;
        -- One call after the other, from before it looks at the sequence until its commit. A row lock alone would not
        -- do: whoever waits for one may have its transaction's id long before it gets the row. An advisory lock would
        -- be anybody's to take.
        LOCK TABLE ${state} IN SHARE UPDATE EXCLUSIVE MODE;
        SELECT last_value INTO place FROM @${quoted('event_sequence')};
        -- Takes the transaction's id.
        SELECT * INTO known FROM ${state} FOR UPDATE;
        -- Before the search: what these transactions have committed, it sees.
        is_settled := known.settling_xid < pg_snapshot_xmin(pg_current_snapshot())
          OR known.settling_xid > pg_current_xact_id();
        SELECT coalesce(array_agg(sequence ORDER BY sequence), '{}') INTO found_sequences FROM (
          SELECT sequence FROM (
            SELECT sequence FROM ${inGaps(lock)}
            UNION ALL
            SELECT sequence FROM (
              ${unnumbered} sequence > known.frontier AND sequence <= place ORDER BY sequence LIMIT most${lock}
            ) AS beyond
          ) AS q ORDER BY sequence LIMIT most
        ) AS q;
        numbered := cardinality(found_sequences);
        -- One by one: a join may be turned round, as above.
        FOR n IN 1..numbered LOOP
          UPDATE ${table} SET position = known.last_position + n
            WHERE position IS NULL AND sequence = found_sequences[n];
        END LOOP;
        IF numbered = most THEN
          place := greatest(known.frontier, found_sequences[most]);
        ELSIF is_settled THEN
          -- But for what an erasure has locked, which may have its id since then.
          known.gaps := known.gaps - int8multirange(int8range(NULL, known.settling, '[]')) + coalesce(
            (SELECT range_agg(int8range(sequence, sequence, '[]')) FROM ${inGaps('')}), '{}');
          known.settling := known.frontier;
          known.settling_xid := pg_current_xact_id();
        END IF;
        IF place > known.frontier THEN
          known.gaps := known.gaps + int8multirange(int8range(known.frontier, place, '(]'));
          known.frontier := place;
        END IF;
        known.gaps := known.gaps - coalesce(
          (SELECT range_agg(int8range(s, s, '[]')) FROM unnest(found_sequences) AS s), '{}');
        UPDATE ${state} SET last_position = known.last_position + numbered, frontier = known.frontier,
          gaps = known.gaps, settling = known.settling, settling_xid = known.settling_xid;
        newest := known.last_position + numbered;
      END
      $body$`
}

/** The event log of PostgreSQL. */
export const postgresEvents: EventSql = {
  writtenOrder: 'sequence',
  take: null,
  restart: ({ eventSequence }) => [`ALTER SEQUENCE ${eventSequence} RESTART`],
  number: ({ schema, quoted }) =>
    `SELECT numbered, newest FROM ${schema === null ? '' : `"${schema}".`}${quoted(NUMBER_EVENTS)}($1::int)`,
  // By `type = $3 ORDER BY position`, a plan for any type goes through all positions until it has met enough events of
  // the type: all of two million for one that there is none of. Only the right index has this order.
  between (columns, values, { low, high }) {
    const order = [...columns, 'position']
    const row = `(${order.join(', ')})`
    return {
      condition: `${row} > (${[...values, low].join(', ')}) AND ${row} < (${[...values, high].join(', ')}) ` +
        'AND position IS NOT NULL',
      order
    }
  },
  columns: ({ eventSequence }) =>
    `sequence bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME ${eventSequence}),
        position bigint`,
  create (names) {
    const { events, eventState, quoted } = names
    return [
      `CREATE INDEX ${quoted('events_unnumbered')} ON ${events} (sequence) WHERE position IS NULL`,
      `CREATE UNIQUE INDEX ${quoted('events_position')} ON ${events} (position) WHERE position IS NOT NULL`,
      `CREATE INDEX ${quoted('events_type')} ON ${events} (type, position) WHERE position IS NOT NULL`,
      `CREATE INDEX ${quoted('events_subject')} ON ${events} (subject, sequence)`,
      `CREATE TABLE ${eventState} (
        singleton integer NOT NULL DEFAULT 1 CONSTRAINT ${quoted('event_state_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('event_state_singleton')} CHECK (singleton = 1),
        last_position bigint NOT NULL DEFAULT 0,
        frontier bigint NOT NULL DEFAULT 0,
        gaps int8multirange NOT NULL DEFAULT '{}',
        settling bigint NOT NULL DEFAULT 0,
        settling_xid xid8 NOT NULL DEFAULT '0'
      )`,
      `INSERT INTO ${eventState} DEFAULT VALUES`,
      ...withSchema(names, [
        numberEvents(names),
        `REVOKE ALL ON FUNCTION @${quoted(NUMBER_EVENTS)}(integer) FROM PUBLIC`
      ])
    ]
  },
  drop: (names) => [
    dropFunction(names, NUMBER_EVENTS, 'integer'),
    `DROP TABLE ${names.eventState}`
  ]
}
