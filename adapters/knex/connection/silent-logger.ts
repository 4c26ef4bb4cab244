const ignore = () => {}

/**
 * A logger for our own Knex instances. Errors are thrown to the caller, and Knex's lines can hold SQL and addresses.
 */
export const silentLogger = { warn: ignore, error: ignore, debug: ignore, deprecate: ignore }
