import type { Dialect } from '../dialect.ts'
import type { Names } from '../names.ts'
import { dropRoutine, inSchema } from '../routines.ts'
import { FIRST_USER_COLUMNS } from '../rows.ts'
import { cutBlocks, cutUsers } from './cut.ts'
import { pageFunction } from './page-postgres.ts'

/*
 * How the exact number of users, and any page of them, costs the same at ten million as at ten.
 *
 * Users whose ids are below the boundary `sealed` are counted in blocks, ranges of ids that hold a few hundred each, and the blocks in groups. The tail from the
 * boundary on is short and counted by looking. So a new user, whose id is the greatest, costs nothing but a look at the boundary. Whoever comes to a block, or
 * leaves it, adds a row of +1 or -1 to the changes: nobody ever updates a row that somebody else wants too, so no writer waits for another, and none fails.
 * From time to time the tail is sealed into blocks, and changes are folded into them (upkeep.ts).
 *
 * Triggers do it, so that plain SQL is counted too.
 */

function sqliteTriggers ({ users, blockChanges, sealing, own }: Names): string[] {
  const pending = `(SELECT pending FROM ${sealing})`
  return [
    `CREATE TRIGGER ${own('users_inserted')} AFTER INSERT ON ${users} WHEN NEW.id < ${pending} BEGIN
        INSERT INTO ${blockChanges} (id, change) VALUES (NEW.id, 1);
      END`,
    `CREATE TRIGGER ${own('users_deleted')} AFTER DELETE ON ${users} WHEN OLD.id < ${pending} BEGIN
        INSERT INTO ${blockChanges} (id, change) VALUES (OLD.id, -1);
      END`,
    `CREATE TRIGGER ${own('users_renumbered')} AFTER UPDATE OF id ON ${users} WHEN OLD.id <> NEW.id BEGIN
        INSERT INTO ${blockChanges} (id, change) SELECT OLD.id, -1 WHERE OLD.id < ${pending};
        INSERT INTO ${blockChanges} (id, change) SELECT NEW.id, 1 WHERE NEW.id < ${pending};
      END`
  ]
}

/** What the ids of users begin with until the year 3084; eight characters of their time follow, 32 milliseconds apart. */
const BEGINNING = 'usr_0'
/** The lowest that these eight are. */
const LOWEST = Buffer.from('00000000').readBigInt64BE()

/*
 * The functions run with the rights of their owner, since whoever may write users need not know our other tables. Therefore every name in them is qualified, and
 * nobody else may call them, or hang them on a table of his own; a trigger that is there needs no such right to run.
 *
 * A transaction under READ COMMITTED sees the boundary as it is now, and one that has seen an older one is waited for before the boundary counts (upkeep.ts).
 * Under REPEATABLE READ and above the boundary may be an old one until the very end, so every change is written down, and read only if it is below the boundary.
 *
 * A look at a table is two thirds of what a new user would cost. So a sequence, which every transaction sees as it is now and any expression can read, has the
 * eight characters of an id that follow BEGINNING, as a number, from which on nothing needs to be written down; NULL, where the boundary is none that can be said
 * so. It is never behind the boundary, and never goes back, since what is rolled back stays in it: then there are needless looks, and nothing else. Where it was
 * never set, as on a subscriber whose schema alone was copied, it says NULL until the boundary moves. (Creates with 16 connections: 0.77 of those without
 * triggers became 0.88; 50,000 rows in one statement: from 1.1 to 1.4 times as long.)
 *
 * Every INSERT copies what is said of the table's triggers, and makes its expressions anew: so the one on a row is as short as can be, `encode` because it is
 * cheaper than `convert_from`, and no trigger has a WHEN. (CPU of PostgreSQL for an INSERT: 45.6 us without triggers, 57.5 with longer ones, 56.3 with these.)
 */
function postgresTriggers ({ users, sealing, own }: Names): string[] {
  const changes = `@${own('block_changes')}`
  const beyond = `$name$@${own('beyond')}$name$::pg_catalog.regclass`
  const below = (id: string) => `${id} OPERATOR(pg_catalog.<) (SELECT pending FROM @${own('sealing')})`
  const seesPast = "pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'read committed'"
  const trigger = (name: string, body: string) => `CREATE FUNCTION @${own(name)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $body$
      BEGIN
        ${body}
        RETURN NULL;
      END
      $body$`
  const note = (rows: string) => `INSERT INTO ${changes} (id, change) SELECT id, change FROM ${rows} WHERE ${below('id')} OR (SELECT ${seesPast});`
  const last = `pg_catalog.pg_sequence_last_value(${beyond})`
  const from = `('${BEGINNING}' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.int8send(${last}), 'escape'))`
  const ofAnId = (boundary: string) => `${boundary} OPERATOR(pg_catalog.~) '^${BEGINNING}[0-9a-z]{8}'`
  const number = (boundary: string) => `CASE WHEN ${ofAnId(boundary)}
            THEN ('x' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.convert_to(pg_catalog.substr(${boundary}, ${BEGINNING.length + 1}, 8), 'UTF8'), 'hex'))::pg_catalog.bit(64)::pg_catalog.int8 OPERATOR(pg_catalog.+) 1 END`
  const sayable = (boundary: string) => `(${boundary} IS NULL OR ${boundary} OPERATOR(pg_catalog.<) '${BEGINNING}' OR ${ofAnId(boundary)})`
  const triggers: Array<[name: string, on: string, when: string, body: string]> = [
    ['users_inserted', users, 'AFTER INSERT ON @ FOR EACH ROW', `IF NEW.id OPERATOR(pg_catalog.>=) ${from} THEN
          RETURN NULL;
        END IF;
        ${note('(VALUES (NEW.id, 1)) AS v (id, change)')}`],
    ['users_deleted', users, 'AFTER DELETE ON @ REFERENCING OLD TABLE AS gone FOR EACH STATEMENT', note('(SELECT id, -1 FROM gone) AS v (id, change)')],
    ['users_renumbered', users, 'AFTER UPDATE OF id ON @ FOR EACH ROW', `IF OLD.id OPERATOR(pg_catalog.<>) NEW.id THEN
          ${note('(VALUES (OLD.id, -1), (NEW.id, 1)) AS v (id, change)')}
        END IF;`],
    // Emptied like the table itself, for every snapshot at once; `sealing` first, as everybody takes them.
    ['users_truncated', users, 'AFTER TRUNCATE ON @ FOR EACH STATEMENT', `TRUNCATE @${own('sealing')}, ${changes}, @${own('blocks')}, @${own('block_groups')};
        INSERT INTO @${own('blocks')} (start, live) VALUES ('', 0);
        INSERT INTO @${own('sealing')} (sealed, pending, round, counted) VALUES ('', '', pg_catalog.gen_random_uuid()::pg_catalog.text, 0);`],
    // Whoever moves the boundary holds its row, so only one moves the sequence. Once NULL, it stays so; below LOWEST it was never set. The old boundary counts
    // as well, since the new one may be taken back; the row of an emptied table says nothing new, and what it replaces nobody knows.
    ['sealing_announced', sealing, 'AFTER INSERT OR UPDATE OF pending ON @ FOR EACH ROW', `PERFORM pg_catalog.setval(${beyond},
          GREATEST(s.last_value, ${LOWEST}, ${number('OLD.pending')}, ${number('NEW.pending')}),
          (s.is_called OR s.last_value OPERATOR(pg_catalog.<) ${LOWEST}) AND ${sayable('OLD.pending')} AND ${sayable('NEW.pending')})
          FROM @${own('beyond')} AS s WHERE TG_OP OPERATOR(pg_catalog.=) 'UPDATE' OR NEW.pending OPERATOR(pg_catalog.<>) '';`]
  ]
  return [
    `CREATE SEQUENCE @${own('beyond')}`,
    `SELECT pg_catalog.setval(${beyond}, ${LOWEST})`,
    ...triggers.flatMap(([name, on, when, body]) => [
      trigger(name, body),
      `REVOKE ALL ON FUNCTION @${own(name)}() FROM PUBLIC`,
      `CREATE TRIGGER ${own(name)} ${when.replace('@', on)} EXECUTE FUNCTION @${own(name)}()`
    ]),
    // A replica's sequence must follow too: sequences aren't replicated.
    `ALTER TABLE ${sealing} ENABLE ALWAYS TRIGGER ${own('sealing_announced')}`
  ]
}

/** What makes the blocks, and counts in the users that there are. */
export function blocksUp (dialect: Dialect, names: Names): string[] {
  const { bytewise, roomy } = dialect
  const { users, blocks, blockGroups, blockChanges, sealing, own } = names
  return [
    `CREATE TABLE ${blocks} (
        start ${bytewise} NOT NULL CONSTRAINT ${own('blocks_pkey')} PRIMARY KEY,
        live integer NOT NULL
      )${roomy}`,
    `CREATE TABLE ${blockGroups} (
        start ${bytewise} NOT NULL CONSTRAINT ${own('block_groups_pkey')} PRIMARY KEY,
        before bigint NOT NULL
      )${roomy}`,
    // PostgreSQL reads them all as fast, and can change rows in place as long as no index has what changes.
    ...(dialect.name === 'sqlite' ? [`CREATE INDEX ${own('block_groups_before')} ON ${blockGroups} (before, start)`] : []),
    `CREATE TABLE ${blockChanges} (
        id ${bytewise} NOT NULL,
        change integer NOT NULL
      )`,
    // A publication of all tables asks for something that tells rows apart.
    ...(dialect.name === 'postgres' ? [`ALTER TABLE ${blockChanges} REPLICA IDENTITY FULL`] : []),
    `CREATE TABLE ${sealing} (
        one integer NOT NULL DEFAULT 1 CONSTRAINT ${own('sealing_pkey')} PRIMARY KEY CONSTRAINT ${own('sealing_one')} CHECK (one = 1),
        sealed ${bytewise} NOT NULL,
        pending ${bytewise} NOT NULL,
        round text NOT NULL,
        counted bigint NOT NULL
      )`,
    ...(dialect.name === 'postgres' ? inSchema(names, [...postgresTriggers(names), pageFunction(names, FIRST_USER_COLUMNS)]) : sqliteTriggers(names)),
    `INSERT INTO ${sealing} (sealed, pending, round, counted) SELECT coalesce(max(id), ''), coalesce(max(id), ''), '', 0 FROM ${users}`,
    `INSERT INTO ${blocks} (start, live) VALUES ('', 0)`,
    cutUsers(names, "''", `(SELECT sealed FROM ${sealing})`),
    ...cutBlocks(dialect, names)
  ]
}

/** The way back. */
export function blocksDown ({ name }: Dialect, names: Names): string[] {
  const { users, blocks, blockGroups, blockChanges, sealing, beyond, own } = names
  const drop = (trigger: string, table: string): string[] => name === 'postgres'
    ? [`DROP TRIGGER IF EXISTS ${own(trigger)} ON ${table}`, dropRoutine(names, trigger, '')]
    : [`DROP TRIGGER IF EXISTS ${own(trigger)}`]
  const onlyOnPostgres = () => [...drop('users_truncated', users), ...drop('sealing_announced', sealing), dropRoutine(names, 'page', 'boolean, bigint, bigint, text'), `DROP SEQUENCE ${beyond}`]
  return [
    ...['users_inserted', 'users_deleted', 'users_renumbered'].flatMap((trigger) => drop(trigger, users)),
    ...(name === 'postgres' ? onlyOnPostgres() : []),
    ...[sealing, blockChanges, blockGroups, blocks].map((table) => `DROP TABLE ${table}`)
  ]
}
