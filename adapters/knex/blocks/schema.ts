import type { Dialect } from '../dialect.ts'
import type { Names } from '../names.ts'
import { dropRoutine, inSchema } from '../routines.ts'
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

/*
 * The functions run with the rights of their owner, since whoever may write users need not know our other tables. Therefore every name in them is qualified, and
 * nobody else may call them, or hang them on a table of his own; a trigger that is there needs no such right to run.
 *
 * A transaction under READ COMMITTED sees the boundary as it is now, and one that has seen an older one is waited for before the boundary counts (upkeep.ts).
 * Under REPEATABLE READ and above the boundary may be an old one until the very end, so every change is written down, and read only if it is below the boundary.
 */
function postgresTriggers ({ users, own }: Names): string[] {
  const changes = `@${own('block_changes')}`
  const sealing = `@${own('sealing')}`
  const below = (id: string) => `${id} OPERATOR(pg_catalog.<) (SELECT pending FROM ${sealing})`
  const seesPresent = "pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) 'read committed'"
  const trigger = (name: string, body: string) => `CREATE FUNCTION @${own(name)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $body$
      BEGIN
        ${body}
        RETURN NULL;
      END
      $body$`
  const note = (rows: string, change: number) => `IF ${seesPresent} THEN
          INSERT INTO ${changes} (id, change) SELECT id, ${change} FROM ${rows} WHERE ${below('id')};
        ELSE
          INSERT INTO ${changes} (id, change) SELECT id, ${change} FROM ${rows};
        END IF;`
  return [
    trigger('users_inserted', note('came', 1)),
    trigger('users_deleted', note('gone', -1)),
    trigger('users_renumbered', `INSERT INTO ${changes} (id, change) SELECT id, change FROM (VALUES (OLD.id, -1), (NEW.id, 1)) AS v (id, change)
          WHERE ${below('id')} OR NOT ${seesPresent};`),
    // Emptied like the table itself, for every snapshot at once; `sealing` first, as everybody takes them.
    trigger('users_truncated', `TRUNCATE ${sealing}, ${changes}, @${own('blocks')}, @${own('block_groups')};
        INSERT INTO @${own('blocks')} (start, live) VALUES ('', 0);
        INSERT INTO ${sealing} (sealed, pending, round, counted) VALUES ('', '', pg_catalog.gen_random_uuid()::pg_catalog.text, 0);`)
  ]
    .concat(['users_inserted', 'users_deleted', 'users_renumbered', 'users_truncated'].map((name) => `REVOKE ALL ON FUNCTION @${own(name)}() FROM PUBLIC`))
    .concat([
      `CREATE TRIGGER ${own('users_inserted')} AFTER INSERT ON ${users} REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION @${own('users_inserted')}()`,
      `CREATE TRIGGER ${own('users_deleted')} AFTER DELETE ON ${users} REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION @${own('users_deleted')}()`,
      `CREATE TRIGGER ${own('users_renumbered')} AFTER UPDATE OF id ON ${users} FOR EACH ROW WHEN (OLD.id <> NEW.id) EXECUTE FUNCTION @${own('users_renumbered')}()`,
      `CREATE TRIGGER ${own('users_truncated')} AFTER TRUNCATE ON ${users} FOR EACH STATEMENT EXECUTE FUNCTION @${own('users_truncated')}()`
    ])
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
    ...(dialect.name === 'postgres' ? inSchema(names, [...postgresTriggers(names), pageFunction(names)]) : sqliteTriggers(names)),
    `INSERT INTO ${sealing} (sealed, pending, round, counted) SELECT coalesce(max(id), ''), coalesce(max(id), ''), '', 0 FROM ${users}`,
    `INSERT INTO ${blocks} (start, live) VALUES ('', 0)`,
    cutUsers(names, "''", `(SELECT sealed FROM ${sealing})`),
    ...cutBlocks(dialect, names)
  ]
}

/** The way back. */
export function blocksDown ({ name }: Dialect, names: Names): string[] {
  const { users, blocks, blockGroups, blockChanges, sealing, own } = names
  const triggers = ['users_inserted', 'users_deleted', 'users_renumbered', ...(name === 'postgres' ? ['users_truncated'] : [])]
  return [
    ...triggers.flatMap((trigger) => name === 'postgres' ? [`DROP TRIGGER IF EXISTS ${own(trigger)} ON ${users}`, dropRoutine(names, trigger, '')] : [`DROP TRIGGER IF EXISTS ${own(trigger)}`]),
    ...(name === 'postgres' ? [dropRoutine(names, 'page', 'boolean, bigint, bigint, text')] : []),
    ...[sealing, blockChanges, blockGroups, blocks].map((table) => `DROP TABLE ${table}`)
  ]
}
