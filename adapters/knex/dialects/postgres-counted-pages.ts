import type { Several } from '../../../lib/core/gather.ts'
import type { PageRequest } from '../../../lib/storage/storage.ts'
import type { Statement } from '../drivers/driver.ts'
import { BLOCK, BLOCKS_PER_GROUP } from '../tables/block-sizes.ts'
import type { Column } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { postgresReading } from './postgres-reading.ts'

export const PAGES_FUNCTION = 'list_pages'
export const PAGES_FUNCTION_TYPES = 'boolean[], bigint[], bigint[], text[]'

/**
 * The function that returns pages of all users (`docs/exact-counting.md`), for `withSchema`. Each of the lists has a
 * value for each page: `sizes` users from the position in `starts` (from 0), or, if that is -1, those after the id in
 * `behinds`. No list has NULL, which is a text under `array_nulls = off`. For each page, in the same order, it returns
 * how many users are `counted` in blocks, how many are in the `tail`, how many `changes` had to be read, and the users'
 * columns as JSON.
 *
 * It is a function because PostgreSQL keeps the plans of its statements, and STABLE so that all of them see the
 * snapshot of the calling statement. Its settings are there because a generic plan can't know how short the tail is:
 * it would start workers, compile, or read and sort the table instead of taking a few steps along the index. With its
 * own search path it calls nobody else's functions or operators.
 */
export function pagesFunction ({ quoted }: Names, columns: readonly Column[]): string {
  const table = (name: string) => `@${quoted(name)}`
  const [users, blocks, groups] = [table('users'), table('counting_blocks'), table('counting_groups')]
  const [changes, state] = [table('counting_changes'), table('counting_state')]
  const items = (which: string) =>
    postgresReading.packed(columns, `SELECT * FROM ${users} AS u WHERE ${which} LIMIT size`)
  // An index alone is enough to skip users.
  const skip = (which: string, order: string, by: string) =>
    `(SELECT u.id FROM ${users} AS u WHERE ${which} ORDER BY ${order} LIMIT 1 OFFSET ${by})`
  return `CREATE FUNCTION @${quoted(PAGES_FUNCTION)} (descending boolean[], sizes bigint[], starts bigint[],
        behinds text[], OUT counted bigint, OUT tail bigint, OUT changes bigint, OUT items json)
      RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
        SET plan_cache_mode = force_generic_plan SET max_parallel_workers_per_gather = 0 SET jit = off
        SET enable_seqscan = off SET enable_bitmapscan = off
        AS $body$
      DECLARE
        boundary text COLLATE "C";
        anchor text COLLATE "C";
        behind text COLLATE "C";
        backwards boolean;
        size bigint;
        start bigint;
        added bigint;
        first bigint;
        before bigint;
        low text COLLATE "C";
        users bigint;
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
        FOR i IN 1 .. cardinality(sizes) LOOP
          backwards := descending[i];
          size := sizes[i];
          start := starts[i];
          behind := behinds[i];
          IF start < 0 THEN
            IF backwards THEN
              items := ${items('u.id < behind ORDER BY u.id DESC')};
            ELSE
              items := ${items('u.id > behind ORDER BY u.id')};
            END IF;
          ELSIF start < ${BLOCK} AND backwards THEN
            items := ${items(`u.id <= ${skip('true', 'u.id DESC', 'start')} ORDER BY u.id DESC`)};
          ELSIF start < ${BLOCK} THEN
            items := ${items(`u.id >= ${skip('true', 'u.id', 'start')} ORDER BY u.id`)};
          ELSE
            first := start;
            IF backwards THEN
              -- The same users from the other end. Past the end there are none.
              first := greatest(counted + tail - start - size, 0);
              size := greatest(least(size, counted + tail - start), 0);
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
              SELECT g.first_id, g.users_before INTO anchor, before FROM ${groups} AS g
                WHERE g.users_before <= first - added ORDER BY g.users_before DESC, g.first_id DESC LIMIT 1;
              FOR low, users IN SELECT b.first_id, b.users FROM ${blocks} AS b
                  WHERE b.first_id >= anchor ORDER BY b.first_id LIMIT ${BLOCKS_PER_GROUP} LOOP
                anchor := low;
                EXIT WHEN before + users > first - added;
                before := before + users;
              END LOOP;
              IF changes > 0 THEN
                before := before + coalesce((SELECT sum(c.change) FROM ${changes} AS c WHERE c.user_id < anchor), 0);
              END IF;
            END IF;
            IF backwards THEN
              -- The last of them comes first.
              before := first - before + greatest(size, 1) - 1;
              items := ${items(`u.id <= ${skip('u.id >= anchor', 'u.id', 'before')} ORDER BY u.id DESC`)};
            ELSE
              before := first - before;
              items := ${items(`u.id >= ${skip('u.id >= anchor', 'u.id', 'before')} ORDER BY u.id`)};
            END IF;
          END IF;
          RETURN NEXT;
        END LOOP;
      END
      $body$`
}

/** Makes the statement that reads pages of all users. */
export function postgresCountedPages ({ schema, quoted }: Names): (pages: Several<PageRequest>) => Statement {
  const name = `${schema === null ? '' : `"${schema}".`}${quoted(PAGES_FUNCTION)}`
  const sql = `SELECT counted, tail, changes, items FROM ${name}(` +
    '$1::boolean[], $2::bigint[], $3::bigint[], $4::text[])'
  return (pages) => ({
    sql,
    params: [
      pages.map(({ order }) => String(order === 'desc')),
      pages.map(({ limit }) => String(limit)),
      pages.map(({ from }) => String('after' in from ? -1 : from.offset)),
      pages.map(({ from }) => 'after' in from ? from.after : '')
    ]
  })
}
