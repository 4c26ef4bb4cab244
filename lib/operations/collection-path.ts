// Characters that a URI path has without escapes (RFC 3986 section 3.3), and the escapes themselves.
const NOT_IN_PATHS = /[^A-Za-z0-9._~!$&'()*+,;=:@/%-]/gu

/**
 * Makes a function that gives the path of the collection that an operation's path begins with, such as `/v1/users` for
 * `/users/:id/events`. If the prefix has parameters, it is taken from the request's URL. It is then normalised:
 * characters that a path may not have are escaped, and slashes are single, since browsers read a leading `//` (or `/\`)
 * as a host.
 */
export function collectionPath (
  prefix: string,
  operationPath: string,
  useSemicolonDelimiter: boolean
): (request: { url: string }) => string {
  const [, name = '', ...below] = operationPath.split('/')
  const collection = `${prefix}/${name}`
  if (!/[:*]/.test(prefix)) return () => collection
  return ({ url }) => {
    const path = url.replace(useSemicolonDelimiter ? /[?;].*/ : /\?.*/, '')
    const escaped = path.toWellFormed().replace(NOT_IN_PATHS, encodeURIComponent)
    const whole = escaped.replace(/\/{2,}/g, '/').replace(/\/$/, '')
    return below.length === 0 ? whole : whole.split('/').slice(0, -below.length).join('/')
  }
}
