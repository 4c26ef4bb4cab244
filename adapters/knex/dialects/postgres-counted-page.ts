import type { PageRequest } from '../../../lib/core/storage.ts'
import type { Statement } from '../drivers/driver.ts'
import { BLOCK } from '../tables/block-sizes.ts'
import type { Column } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { postgresReading } from './postgres-reading.ts'

export const PAGE_FUNCTION = 'list_page'
export const PAGE_FUNCTION_TYPES = 'boolean, bigint, bigint, text'

/**
 * The function that returns a page of all users (`docs/exact-counting.md`), for `withSchema`: how many users are
 * `counted` in blocks and how many are in the `tail`, and the page's columns as JSON: `size` users from position
 * `start` (from 0), or those after the id `behind`. `changes`: how many of these had to be read.
 *
 * It is a function because PostgreSQL keeps the plans of its statements, and STABLE so that all of them see the
 * snapshot of the calling statement. Its settings are there because a generic plan can't know how short the tail is:
 * it would start workers, compile, or read and sort the table instead of taking a few steps along the index.
 */
export function pageFunction ({ quoted }: Names, columns: readonly Column[]): string {
  const table = (name: string) => `@${quoted(name)}`
  const [users, blocks, groups] = [table('users'), table('counting_blocks'), table('counting_groups')]
  const [changes, state] = [table('counting_changes'), table('counting_state')]
  const items = (which: string) =>
    postgresReading.packed(columns, `SELECT * FROM ${users} AS u WHERE ${which} LIMIT size`)
  return `CREATE FUNCTION @${quoted(PAGE_FUNCTION)} (descending boolean, size bigint, start bigint, behind text,
        OUT counted bigint, OUT tail bigint, OUT changes bigint, OUT items json)
      LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET max_parallel_workers_per_gather = 0
        SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off AS $body$
      DECLARE
        boundary text COLLATE "C";
        anchor text COLLATE "C";
        low text COLLATE "C";
        high text COLLATE "C";
        added bigint;
        first bigint;
        before bigint;
      BEGIN
        SELECT s.boundary, s.total INTO boundary, counted FROM ${state} AS s;
        IF boundary IS NULL THEN
          -- This snapshot is older than a TRUNCATE of the table, whose effect it sees all the same.
          boundary := '';
          counted := 0;
        END IF;
        SELECT counted + coalesce(sum(c.change), 0), coalesce(sum(c.change) FILTER (WHERE c.change > 0), 0), count(*)
          INTO counted, added, changes FROM ${changes} AS c WHERE c.user_id < boundary;
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
            anchor := CASE WHEN start = 0 THEN ''
              ELSE (SELECT u.id FROM ${users} AS u ORDER BY u.id LIMIT 1 OFFSET start) END;
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
          -- The numbers of blocks do not include the changes. At most all added users come before the position, so
          -- going back by their number is far enough.
          SELECT g.first_id, g.users_before INTO low, before FROM ${groups} AS g
            WHERE g.users_before <= first - added ORDER BY g.users_before DESC, g.first_id DESC LIMIT 1;
          high := coalesce((SELECT min(g.first_id) FROM ${groups} AS g WHERE g.first_id > low), boundary);
          SELECT b.first_id, b.users_before INTO anchor, before
            FROM (SELECT i.first_id,
                before + sum(i.users) OVER (ORDER BY i.first_id ROWS UNBOUNDED PRECEDING) - i.users AS users_before
              FROM ${blocks} AS i WHERE i.first_id >= low AND i.first_id < high) AS b
            WHERE b.users_before <= first - added ORDER BY b.first_id DESC LIMIT 1;
          before := before + coalesce((SELECT sum(c.change) FROM ${changes} AS c WHERE c.user_id < anchor), 0);
        END IF;
        IF descending THEN
          -- The last of them comes first; past the end size is 0.
          anchor := (SELECT u.id FROM ${users} AS u WHERE u.id >= anchor
            ORDER BY u.id LIMIT 1 OFFSET first - before + greatest(size, 1) - 1);
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

/** Makes the statement that reads a page of all users. */
export function postgresCountedPage ({ schema, quoted }: Names): (page: PageRequest) => Statement {
  const name = `${schema === null ? '' : `"${schema}".`}${quoted(PAGE_FUNCTION)}`
  const sql = `SELECT counted, tail, changes, items FROM ${name}($1, $2, $3, $4)`
  return ({ order, limit, from }) => ({
    sql,
    params: [order === 'desc' ? 'true' : 'false', limit, ...('after' in from ? [0, from.after] : [from.offset, null])]
  })
}
