import { sqlite } from '../../../adapters/sqlite.ts'

/** The SQLite store in a file. */
export default (filename: string) => sqlite({ filename })
