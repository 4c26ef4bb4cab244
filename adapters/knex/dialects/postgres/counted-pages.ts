import type { Several } from '../../../../lib/core/gather.ts'
import type { TenantPageRequest } from '../../../../lib/storage/storage.ts'
import type { Statement } from '../../drivers/driver.ts'
import { BLOCK, BLOCKS_PER_GROUP } from '../../tables/block-sizes.ts'
import type { Column } from '../../tables/columns.ts'
import type { Names } from '../../tables/names.ts'
import { postgresReading } from './reading.ts'

/** The functions of pages, each with the types of its arguments. */
export const PAGES_FUNCTIONS = {
  list_pages: 'boolean[], bigint[], bigint[], text[]',
  list_tenant_pages: 'boolean[], bigint[], bigint[], text[], text[]'
}

/** The parts of a function that differ between pages of all users and of those of a tenant. */
interface Lists {
  name: keyof typeof PAGES_FUNCTIONS
  parameters: string
  variables: string
  scope: string
  /** A condition for rows of users. */
  belongs: string
  /** The rows of users from a place on, or from the first; backwards if the comparison is `<` or `<=`. */
  from (columns: string, comparison: '<' | '<=' | '>' | '>=', id: string | null, rest: string): string
  /** True if the counts are those of the page before. */
  areKnown: string
}

const directionOf = (comparison: string): string => comparison.startsWith('<') ? ' DESC' : ''

function listsOfAll (users: string): Lists {
  return {
    name: 'list_pages',
    parameters: '',
    variables: '',
    scope: "''",
    belongs: 'true',
    areKnown: 'i > 1',
    from: (columns, comparison, id, rest) => `SELECT ${columns} FROM ${users} AS u ` +
      `WHERE ${id === null ? 'true' : `u.id ${comparison} ${id}`} ORDER BY u.id${directionOf(comparison)} ${rest}`
  }
}

/**
 * A tenant's users are read in the order of tenant and id, up to those of the next tenant, which are left out: with a
 * condition of equality the planner may walk the primary key through the users of all others.
 */
function listsOfTenant (users: string): Lists {
  return {
    name: 'list_tenant_pages',
    parameters: ', tenants text[]',
    variables: 'of_tenant text COLLATE "C";',
    scope: 'of_tenant',
    belongs: "u.tenant = of_tenant AND u.tenant <> ''",
    areKnown: 'of_tenant = tenants[i]',
    from (columns, comparison, id, rest) {
      const direction = directionOf(comparison)
      const place = id === null
        ? `u.tenant ${comparison} of_tenant`
        : `(u.tenant, u.id) ${comparison} (of_tenant, ${id})`
      return `SELECT ${columns} FROM (SELECT u.* FROM ${users} AS u WHERE u.tenant <> '' AND ${place} ` +
        `ORDER BY u.tenant${direction}, u.id${direction} ${rest}) AS u WHERE u.tenant = of_tenant`
    }
  }
}

/**
 * The function that returns pages of all users, or of those of tenants (`docs/exact-counting.md`), for `withSchema`.
 * Each of the lists has a value for each page: `sizes` users from the position in `starts` (from 0), or, if that is -1,
 * those after the id in `behinds`. No list has NULL, which is a text under `array_nulls = off`. For each page, in the
 * same order, it returns how many users are `counted` in blocks, how many are in the `tail`, how many `changes` had to
 * be read, and the users' columns as JSON.
 *
 * It is a function because PostgreSQL keeps the plans of its statements, and STABLE so that all of them see the
 * snapshot of the calling statement. Its settings are there because a generic plan can't know how short the tail is:
 * it would start workers, compile, or read and sort the table instead of taking a few steps along the index. With its
 * own search path it calls nobody else's functions or operators.
 */
export function pagesFunction ({ quoted }: Names, columns: readonly Column[], ofTenant: boolean): string {
  const table = (name: string) => `@${quoted(name)}`
  const [users, blocks, groups] = [table('users'), table('counting_blocks'), table('counting_groups')]
  const [changes, state] = [table('counting_changes'), table('counting_state')]
  const { name, parameters, variables, scope, belongs, from, areKnown } =
    ofTenant ? listsOfTenant(users) : listsOfAll(users)
  const items = (comparison: '<' | '<=' | '>' | '>=', id: string) =>
    postgresReading.packed(columns, from('u.*', comparison, id, 'LIMIT size'))
  // An index alone is enough to skip users.
  const skip = (comparison: '<=' | '>=', id: string | null, by: string) =>
    `(${from('u.id', comparison, id, `LIMIT 1 OFFSET ${by}`)})`
  return `CREATE FUNCTION @${quoted(name)} (descending boolean[], sizes bigint[], starts bigint[],
        behinds text[]${parameters}, OUT counted bigint, OUT tail bigint, OUT changes bigint, OUT items json)
      RETURNS SETOF record LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
        SET plan_cache_mode = force_generic_plan SET max_parallel_workers_per_gather = 0 SET jit = off
        SET enable_seqscan = off SET enable_bitmapscan = off
        AS $body$
      DECLARE
        ${variables}
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
        FOR i IN 1 .. cardinality(sizes) LOOP
          IF (${areKnown}) IS NOT TRUE THEN
            ${ofTenant ? 'of_tenant := tenants[i];' : ''}
            SELECT s.boundary, s.total INTO boundary, counted FROM ${state} AS s WHERE s.scope = ${scope};
            IF boundary IS NULL THEN
              -- A tenant of few users, or a snapshot that is older than a TRUNCATE, whose effect it sees all the same.
              boundary := '';
              counted := 0;
            END IF;
            SELECT counted + coalesce(sum(c.change), 0), coalesce(sum(c.change) FILTER (WHERE c.change > 0), 0),
                count(*)
              INTO counted, added, changes FROM ${changes} AS c WHERE c.scope = ${scope} AND c.user_id < boundary;
            tail := (SELECT count(*) FROM ${users} AS u WHERE ${belongs} AND u.id >= boundary);
          END IF;
          backwards := descending[i];
          size := sizes[i];
          start := starts[i];
          behind := behinds[i];
          IF start < 0 THEN
            IF backwards THEN
              items := ${items('<', 'behind')};
            ELSE
              items := ${items('>', 'behind')};
            END IF;
          ELSIF start < ${BLOCK} AND backwards THEN
            items := ${items('<=', skip('<=', null, 'start'))};
          ELSIF start < ${BLOCK} THEN
            items := ${items('>=', skip('>=', null, 'start'))};
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
                WHERE g.scope = ${scope} AND g.users_before <= first - added
                ORDER BY g.users_before DESC, g.first_id DESC LIMIT 1;
              FOR low, users IN SELECT b.first_id, b.users FROM ${blocks} AS b
                  WHERE b.scope = ${scope} AND b.first_id >= anchor ORDER BY b.first_id LIMIT ${BLOCKS_PER_GROUP} LOOP
                anchor := low;
                EXIT WHEN before + users > first - added;
                before := before + users;
              END LOOP;
              IF changes > 0 THEN
                before := before + coalesce((SELECT sum(c.change) FROM ${changes} AS c
                  WHERE c.scope = ${scope} AND c.user_id < anchor), 0);
              END IF;
            END IF;
            IF backwards THEN
              -- The last of them comes first.
              before := first - before + greatest(size, 1) - 1;
              items := ${items('<=', skip('>=', 'anchor', 'before'))};
            ELSE
              before := first - before;
              items := ${items('>=', skip('>=', 'anchor', 'before'))};
            END IF;
          END IF;
          RETURN NEXT;
        END LOOP;
      END
      $body$`
}

/** Makes the statement that reads pages of all users, or of those of tenants. */
export function postgresCountedPages (
  { schema, quoted }: Names,
  ofTenant: boolean
): (pages: Several<TenantPageRequest>) => Statement {
  const name = `${schema === null ? '' : `"${schema}".`}${quoted(ofTenant ? 'list_tenant_pages' : 'list_pages')}`
  const sql = `SELECT counted, tail, changes, items FROM ${name}(` +
    `$1::boolean[], $2::bigint[], $3::bigint[], $4::text[]${ofTenant ? ', $5::text[]' : ''})`
  return (pages) => ({
    sql,
    params: [
      pages.map(({ order }) => String(order === 'desc')),
      pages.map(({ limit }) => String(limit)),
      pages.map(({ from }) => String('after' in from ? -1 : from.offset)),
      pages.map(({ from }) => 'after' in from ? from.after : ''),
      ...(ofTenant ? [pages.map(({ tenant = '' }) => tenant)] : [])
    ]
  })
}
