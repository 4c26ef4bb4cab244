/**
 * Statements that make a database of PostgreSQL poor for a role: what servers that speak its language often lack is
 * refused with 0A000, or by rights. A superuser has all of it still.
 */
export const povertyOf = (role, database) => [
  `CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION '% is not supported', tg_tag USING ERRCODE = '0A000'; END $$`,
  `CREATE EVENT TRIGGER refuse ON ddl_command_start
     WHEN TAG IN ('CREATE FUNCTION', 'CREATE TRIGGER', 'CREATE SEQUENCE', 'CREATE RULE', 'CREATE EXTENSION')
     EXECUTE FUNCTION public.refuse()`,
  'REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC',
  // Functions have no names for what they are about, but these.
  `DO $$ DECLARE f regprocedure; BEGIN
     FOR f IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND (
         proname ~ '^pg_(try_)?advisory' OR proname ~ '(snapshot|xact_id)' OR proname ~ '(range|multirange)(_|$)' OR
         proname IN ('pg_notify', 'pg_lock_status', 'setval', 'nextval', 'currval', 'lastval',
           'pg_sequence_last_value'))
     LOOP EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f); END LOOP; END $$`,
  'REVOKE SELECT ON pg_locks FROM PUBLIC',
  'REVOKE USAGE ON TYPE xid8, int8range FROM PUBLIC',
  `GRANT CREATE ON DATABASE ${database} TO ${role}`
]
