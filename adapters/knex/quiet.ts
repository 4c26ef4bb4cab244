const ignore = () => {}

/** A log for Knex instances of our own: what goes wrong is thrown to whoever asked, and Knex's own lines can hold statements and addresses. */
export const quiet = { warn: ignore, error: ignore, debug: ignore, deprecate: ignore }
