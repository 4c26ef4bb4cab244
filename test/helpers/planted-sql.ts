// Functions and operators that a stranger plants in a schema, for tests that none of them is executed.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'

const ROOT = join(import.meta.dirname, '..', '..')

// The types of our columns and values, and those that PostgreSQL takes as them.
const TYPES = [
  'text', 'varchar', 'name', 'bigint', 'integer', 'numeric', 'boolean', 'json', 'timestamptz', 'timestamp', 'oid',
  'regclass', 'text[]', 'bigint[]'
]
// For functions of three arguments, so that they do not become thousands.
const FEW_TYPES = ['text', 'bigint', 'integer', 'boolean']
const OPERATORS = ['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '||', '->', '~']

const listOf = (values: readonly string[]): string => `ARRAY[${values.map((value) => `'${value}'`).join(', ')}]`

/** What may be the name of a function that our statements call: every word of the sources before a parenthesis. */
async function calledNames (): Promise<string> {
  const names = new Set<string>()
  for (const folder of ['adapters/knex', 'cli']) {
    for (const file of await readdir(join(ROOT, folder), { recursive: true })) {
      const text = file.endsWith('.ts') ? await readFile(join(ROOT, folder, file), 'utf8') : ''
      for (const [, name = ''] of text.matchAll(/\b([a-z_0-9]+)\(/g)) names.add(name)
    }
  }
  return listOf([...names])
}

/** Every combination of so many types, as the list of a function's arguments. */
function combinations (types: readonly string[], count: number): string {
  const each = Array.from({ length: count }, (_, i) => `t${i}`)
  return `SELECT concat_ws(', ', ${each.join(', ')}) AS arguments FROM ` +
    each.map((name) => `unnest(${listOf(types)}) AS ${name}`).join(', ')
}

/**
 * Makes a schema with a function `plant`, which makes others there: each fails, and counts its calls in a sequence,
 * which a rollback does not undo.
 */
async function createSchema (client: pg.Client, schema: string): Promise<void> {
  const body = `BEGIN PERFORM nextval('"${schema}".calls'); RAISE EXCEPTION 'planted: %', %L; END`
  await client.query(`CREATE SCHEMA "${schema}"; GRANT USAGE ON SCHEMA "${schema}" TO PUBLIC;
    CREATE SEQUENCE "${schema}".calls; GRANT USAGE ON SEQUENCE "${schema}".calls TO PUBLIC;
    CREATE FUNCTION "${schema}".plant(name text, arguments text, result text) RETURNS void LANGUAGE plpgsql AS $plant$
    BEGIN
      EXECUTE format('CREATE OR REPLACE FUNCTION "${schema}".%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', name, arguments,
        result, format($body$${body.replace("planted: %'", "planted: %%'")}$body$, name));
    END $plant$`)
}

/** How often functions that were planted in a schema were called. */
export async function callsOf (client: pg.Client, schema: string): Promise<number> {
  const { rows: [row] } = await client.query(`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS calls
    FROM "${schema}".calls`)
  return Number(row.calls)
}

/** Plants operators with a function. `rows`: SQL for a table of them, with the columns `name`, `l` and `r`. */
const plantOperators = (schema: string, rows: string): string => `DO $$ BEGIN
  EXECUTE (SELECT string_agg(format('CREATE OPERATOR "${schema}".%s (LEFTARG = %s, RIGHTARG = %s,
    FUNCTION = "${schema}".operated)', name, l, r), ';') FROM ${rows}); END $$`

/**
 * Plants, for each operator and each function that we call, one for every combination of types. PostgreSQL takes it
 * wherever it fits better than its own.
 */
export async function plantBetterFitting (client: pg.Client, schema: string): Promise<void> {
  await createSchema(client, schema)
  const names = await calledNames()
  for (const count of [1, 2, 3]) {
    await client.query(`SELECT "${schema}".plant(proname, arguments, 'boolean') FROM
      (SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND pronargs = ${count}
        AND proname = ANY(${names})) AS p, (${combinations(count === 3 ? FEW_TYPES : TYPES, count)}) AS c`)
  }
  await client.query(`SELECT "${schema}".plant('operated', arguments, 'boolean') FROM (${combinations(TYPES, 2)}) AS c`)
  await client.query(plantOperators(schema,
    `unnest(${listOf(OPERATORS)}) AS name, unnest(${listOf(TYPES)}) AS l, unnest(${listOf(TYPES)}) AS r`))
}

/** Plants a copy of each function that takes arguments of any type, which others fit better than. */
export async function plantForAnyType (client: pg.Client, schema: string): Promise<void> {
  await client.query(`CREATE SCHEMA "${schema}"; DO $$ DECLARE r record; BEGIN
    FOR r IN SELECT proname, pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result
        FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY(${await calledNames()})
          AND EXISTS (SELECT FROM unnest(proargtypes) AS a JOIN pg_type AS t ON t.oid = a
            WHERE typname LIKE 'any%') LOOP
      -- It fails, whatever its arguments are.
      EXECUTE format('CREATE FUNCTION "${schema}".%I(%s) RETURNS %s LANGUAGE internal AS %L', r.proname, r.arguments,
        r.result, 'trigger_in');
    END LOOP; END $$`)
}

/** Plants each of our operators with the types of PostgreSQL's own. */
export async function plantSameOperators (client: pg.Client, schema: string): Promise<void> {
  await createSchema(client, schema)
  const own = `(SELECT oprname AS name, oprleft::regtype AS l, oprright::regtype AS r FROM pg_operator
    WHERE oprname = ANY(${listOf(OPERATORS)}) AND oprleft::regtype::text = ANY(${listOf(TYPES)})
      AND oprright::regtype::text = ANY(${listOf(TYPES)})) AS own`
  await client.query(`SELECT "${schema}".plant('operated', concat_ws(', ', l, r), 'boolean') FROM
    (SELECT DISTINCT l, r FROM ${own}) AS types`)
  await client.query(plantOperators(schema, own))
}
