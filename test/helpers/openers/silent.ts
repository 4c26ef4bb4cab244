import { sqlite } from '../../../adapters/sqlite.ts'
import type { Storage } from '../../../lib/storage/storage.ts'

/** A store that says it watches keys, and never calls back. */
export default (filename: string): Storage => ({ ...sqlite({ filename: `${filename}.db` }), watch: () => () => {} })
