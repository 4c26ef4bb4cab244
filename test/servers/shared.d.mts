/**
 * The URL of a server that all test files share. Starts it if no test has asked before.
 * @throws Error if it does not start, or if nothing can start it: the tests run without `npm test`
 */
export function sharedServerUrl (name: 'postgres' | 'pgbouncer' | 'mariadb'): string
