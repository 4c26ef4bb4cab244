/**
 * A member of a request; `undefined` if it can't be read. Some getters, such as that of `ip` behind a proxy, need the
 * socket, and a request may lose its socket before its last log line.
 */
export function memberOf (value: unknown, name: string): unknown {
  try {
    return Object(value)[name]
  } catch {
    return undefined
  }
}
