import { mariadb } from '../../../adapters/mariadb.ts'

/** The MariaDB store at a URL. */
export default (connection: string) => mariadb({ connection, pool: { max: 4 } })
