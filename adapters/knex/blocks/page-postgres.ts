import { postgresDialect } from '../dialect.ts'
import type { Names } from '../names.ts'
import { type Column, packed } from '../rows.ts'
import { BLOCK } from './cut.ts'

/**
 * The function that answers how many users are `counted` in blocks and how many are in the `tail`, and the columns of a page of them as JSON: `size` users from the
 * one at the place `start`, counted from 0, or those behind the id `behind`. `changes` says how many of these had to be looked at.
 *
 * A function, because PostgreSQL keeps the plans of its small statements; STABLE, so that all of them see what the statement that calls it sees. Its settings
 * are there because a plan for any boundary can't know how short the tail is: it would start workers, or compile, or read and sort the table, where a few steps
 * along the index do. `@` stands for the schema.
 */
export function pageFunction ({ own }: Names, columns: readonly Column[]): string {
  const [users, blocks, groups, changes, sealing] = ['users', 'blocks', 'block_groups', 'block_changes', 'sealing'].map((name) => `@${own(name)}`)
  const items = (which: string) => packed(postgresDialect, columns, `SELECT * FROM ${users} AS u WHERE ${which} LIMIT size`)
  return `CREATE OR REPLACE FUNCTION @${own('page')} (descending boolean, size bigint, start bigint, behind text,
        OUT counted bigint, OUT tail bigint, OUT changes bigint, OUT items json)
      LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET max_parallel_workers_per_gather = 0 SET jit = off
        SET enable_seqscan = off SET enable_bitmapscan = off AS $body$
      DECLARE
        boundary text COLLATE "C";
        anchor text COLLATE "C";
        low text COLLATE "C";
        high text COLLATE "C";
        added bigint;
        first bigint;
        before bigint;
      BEGIN
        SELECT s.sealed, s.counted INTO boundary, counted FROM ${sealing} AS s;
        IF boundary IS NULL THEN
          -- This snapshot is older than the emptying of the table, which it sees all the same.
          boundary := '';
          counted := 0;
        END IF;
        SELECT counted + coalesce(sum(c.change), 0), coalesce(sum(c.change) FILTER (WHERE c.change > 0), 0), count(*) INTO counted, added, changes
          FROM ${changes} AS c WHERE c.id < boundary;
        tail := (SELECT count(*) FROM ${users} AS u WHERE u.id >= boundary);
        IF behind IS NOT NULL THEN
          IF descending THEN
            items := ${items('u.id < behind COLLATE "C" ORDER BY u.id DESC')};
          ELSE
            items := ${items('u.id > behind COLLATE "C" ORDER BY u.id')};
          END IF;
          RETURN;
        END IF;
        IF start < ${BLOCK} THEN
          IF descending THEN
            anchor := (SELECT u.id FROM ${users} AS u ORDER BY u.id DESC LIMIT 1 OFFSET start);
            items := ${items('u.id <= anchor ORDER BY u.id DESC')};
          ELSE
            anchor := CASE WHEN start = 0 THEN '' ELSE (SELECT u.id FROM ${users} AS u ORDER BY u.id LIMIT 1 OFFSET start) END;
            items := ${items('u.id >= anchor ORDER BY u.id')};
          END IF;
          RETURN;
        END IF;
        IF descending THEN
          -- The same users from the other end.
          first := greatest(counted + tail - start - size, 0);
          size := greatest(least(size, counted + tail - start), 0);
        ELSE
          first := start;
        END IF;
        IF first >= counted THEN
          anchor := boundary;
          before := counted;
        ELSIF first < added + ${BLOCK} THEN
          anchor := '';
          before := 0;
        ELSE
          -- The blocks' own numbers leave out the changes. Those that were added before the place are at most all that were added: so far back is early enough.
          SELECT g.start, g.before INTO low, before FROM ${groups} AS g WHERE g.before <= first - added ORDER BY g.before DESC, g.start DESC LIMIT 1;
          high := coalesce((SELECT min(g.start) FROM ${groups} AS g WHERE g.start > low), boundary);
          SELECT b.start, b.before INTO anchor, before
            FROM (SELECT i.start, before + sum(i.live) OVER (ORDER BY i.start ROWS UNBOUNDED PRECEDING) - i.live AS before FROM ${blocks} AS i WHERE i.start >= low AND i.start < high) AS b
            WHERE b.before <= first - added ORDER BY b.start DESC LIMIT 1;
          before := before + coalesce((SELECT sum(c.change) FROM ${changes} AS c WHERE c.id < anchor), 0);
        END IF;
        IF descending THEN
          -- The last of them comes first; beyond the end size is 0.
          anchor := (SELECT u.id FROM ${users} AS u WHERE u.id >= anchor ORDER BY u.id LIMIT 1 OFFSET first - before + greatest(size, 1) - 1);
          items := ${items('u.id <= anchor ORDER BY u.id DESC')};
          RETURN;
        END IF;
        IF first > before THEN
          anchor := (SELECT u.id FROM ${users} AS u WHERE u.id >= anchor ORDER BY u.id LIMIT 1 OFFSET first - before);
        END IF;
        items := ${items('u.id >= anchor ORDER BY u.id')};
      END
      $body$`
}
