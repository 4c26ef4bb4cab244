import type { Names } from '../../tables/names.ts'

/** How ids of users begin until the year 3084. Eight characters of their time follow, 32 milliseconds apart. */
const ID_START = 'usr_0'
/** The lowest value of these eight characters as a number. */
const LOWEST = Buffer.from('00000000').readBigInt64BE()

/** The functions of the triggers, each named as its trigger. */
export const TRIGGER_FUNCTIONS = [
  'counting_insert', 'counting_delete', 'counting_id_update', 'counting_truncate', 'counting_watermark_move'
]

// Expressions for the watermark: a sequence that holds, as a number, the eight characters of the boundary's id.
const isId = (boundary: string) => `${boundary} OPERATOR(pg_catalog.~) '^${ID_START}[0-9a-z]{8}'`
const eightCharacters = (boundary: string) => `pg_catalog.substr(${boundary}, ${ID_START.length + 1}, 8)`
const bytesOf = (text: string) => `pg_catalog.encode(pg_catalog.convert_to(${text}, 'UTF8'), 'hex')`
const numberOf = (boundary: string) => `CASE WHEN ${isId(boundary)}
            THEN ('x' OPERATOR(pg_catalog.||) ${bytesOf(eightCharacters(boundary))})
              ::pg_catalog.bit(64)::pg_catalog.int8 OPERATOR(pg_catalog.+) 1 END`
const hasNumber = (boundary: string) =>
  `(${boundary} IS NULL OR ${boundary} OPERATOR(pg_catalog.<) '${ID_START}' OR ${isId(boundary)})`

/**
 * Triggers that count users (`docs/exact-counting.md`), for `withSchema`.
 *
 * The functions run with the rights of their owner, so that roles that write users need no rights on our other tables.
 * Therefore every name in them is qualified, and nobody else may call them, or use them on a table of his own. An
 * existing trigger needs no such right.
 *
 * A transaction under READ COMMITTED sees the current boundary; one that has seen an older boundary is waited for
 * before the new one counts (compaction.ts). Under REPEATABLE READ and above, a transaction may see an old boundary
 * until its end, so it records every change, which is read only if it is below the boundary.
 *
 * Reading the boundary from its table is two thirds of the cost for a new user. A sequence is cheaper: every
 * transaction sees its current value, and any expression can read it. It says from which id on nothing has to be
 * recorded; NULL if the boundary can't be expressed as a number. It is never behind the boundary and never goes back,
 * since a rolled back value stays: then triggers read the table needlessly, and nothing else. If it was never set, as
 * on a subscriber that copied only the schema, it is NULL until the boundary moves. (Creates with 16 connections: 0.77
 * of those without triggers became 0.88; 50,000 rows in one statement: 1.1 to 1.4 times as long.)
 *
 * Every INSERT copies the descriptions of the table's triggers and prepares their expressions. So the trigger on rows
 * is as short as possible, `encode` is used because it is cheaper than `convert_from`, and no trigger has a WHEN. (CPU
 * of PostgreSQL per INSERT: 45.6 us without triggers, 57.5 with longer ones, 56.3 with these.)
 */
export function countingTriggers ({ users, state, quoted }: Names): string[] {
  const table = (name: string) => `@${quoted(name)}`
  const [changes, blocks, groups, counts] =
    [table('counting_changes'), table('counting_blocks'), table('counting_groups'), table('counting_state')]
  const watermark = table('counting_watermark')
  const sequence = `$name$${watermark}$name$::pg_catalog.regclass`
  const last = `pg_catalog.pg_sequence_last_value(${sequence})`
  const firstUnrecorded = `('${ID_START}' OPERATOR(pg_catalog.||) ` +
    `pg_catalog.encode(pg_catalog.int8send(${last}), 'escape'))`
  const mayBeStale = "pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'read committed'"
  const isBelow = `v.id OPERATOR(pg_catalog.<)
            (SELECT s.next_boundary FROM ${counts} AS s WHERE s.scope OPERATOR(pg_catalog.=) x.scope)`
  const ofAll = "SELECT '' AS scope UNION ALL "
  const ofTenant = "SELECT v.tenant AS scope WHERE v.tenant OPERATOR(pg_catalog.<>) ''"
  const record = (rows: string, scopes = `${ofAll}${ofTenant}`) => `INSERT INTO ${changes} (scope, user_id, change)
          SELECT x.scope, v.id, v.change FROM ${rows} AS v (id, tenant, change), LATERAL (${scopes}) AS x
          WHERE ${isBelow} OR (SELECT ${mayBeStale});`

  const moved = '(VALUES (OLD.id, OLD.tenant, -1), (NEW.id, NEW.tenant, 1))'

  const trigger = (name: string, on: string, when: string, body: string) => [
    `CREATE FUNCTION @${quoted(name)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $body$
      BEGIN
        ${body}
        RETURN NULL;
      END
      $body$`,
    `REVOKE ALL ON FUNCTION @${quoted(name)}() FROM PUBLIC`,
    `CREATE TRIGGER ${quoted(name)} AFTER ${when.replace(' ON', ` ON ${on}`)} EXECUTE FUNCTION @${quoted(name)}()`
  ]

  return [
    `SELECT pg_catalog.setval(${sequence}, ${LOWEST})`,
    ...trigger('counting_insert', users, 'INSERT ON FOR EACH ROW',
      `IF NEW.id OPERATOR(pg_catalog.>=) ${firstUnrecorded} THEN
          RETURN NULL;
        END IF;
        ${record('(VALUES (NEW.id, NEW.tenant, 1))')}`),
    ...trigger('counting_delete', users, 'DELETE ON REFERENCING OLD TABLE AS gone FOR EACH STATEMENT',
      record('(SELECT id, tenant, -1 FROM gone)')),
    ...trigger('counting_id_update', users, 'UPDATE OF id, tenant ON FOR EACH ROW',
      `IF OLD.id OPERATOR(pg_catalog.<>) NEW.id THEN
          ${record(moved)}
        ELSIF OLD.tenant OPERATOR(pg_catalog.<>) NEW.tenant THEN
          ${record(moved, ofTenant)}
        END IF;`),
    // Emptied like the users' table, for every snapshot; the state first, in the order in which all lock.
    ...trigger('counting_truncate', users, 'TRUNCATE ON FOR EACH STATEMENT',
      `TRUNCATE ${counts}, ${changes}, ${blocks}, ${groups};
        INSERT INTO ${blocks} (first_id, users) VALUES ('', 0);
        INSERT INTO ${counts} (boundary, next_boundary, round, total)
          VALUES ('', '', pg_catalog.gen_random_uuid()::pg_catalog.text, 0);`),
    // Whoever moves the boundary has locked its row, so only one moves the sequence. Once NULL it stays NULL; below
    // LOWEST it was never set. The old boundary counts too, since the new one may be rolled back. The row of an
    // emptied table says nothing new, and what it replaces is unknown. The boundary of a tenant is never ahead.
    ...trigger('counting_watermark_move', state, 'INSERT OR UPDATE OF next_boundary ON FOR EACH ROW',
      `PERFORM pg_catalog.setval(${sequence},
          GREATEST(s.last_value, ${LOWEST}, ${numberOf('OLD.next_boundary')}, ${numberOf('NEW.next_boundary')}),
          (s.is_called OR s.last_value OPERATOR(pg_catalog.<) ${LOWEST})
            AND ${hasNumber('OLD.next_boundary')} AND ${hasNumber('NEW.next_boundary')})
          FROM ${watermark} AS s
          WHERE NEW.scope OPERATOR(pg_catalog.=) ''
            AND (TG_OP OPERATOR(pg_catalog.=) 'UPDATE' OR NEW.next_boundary OPERATOR(pg_catalog.<>) '');`)
  ]
}
