import { lmdb } from '../../../examples/custom-adapter/index.ts'

/** The example adapter on a directory. */
export default (path: string) => lmdb(path)
