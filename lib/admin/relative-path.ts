import { posix } from 'node:path'

/**
 * The reference from a page in the directory `from` to the path `to`, so that both may stand behind a proxy that adds
 * or strips a path before them: from `/admin` to `/v1` it is `../v1`.
 */
export function relativePath (from: string, to: string): string {
  const path = posix.relative(from === '' ? '/' : from, to === '' ? '/' : to)
  return path === '' ? '.' : path
}
