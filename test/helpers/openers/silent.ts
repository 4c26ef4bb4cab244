import { sqlite } from '../../../adapters/sqlite.ts'

/** A store that says it watches keys, and never calls back. */
export default (filename: string) => ({ ...sqlite({ filename: `${filename}.db` }), watchApiKeys: () => () => {} })
