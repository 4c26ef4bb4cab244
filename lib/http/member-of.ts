/**
 * A member of a request; undefined if it can't be read. Some getters need the socket, such as that of `ip` behind a
 * proxy, and a request may lose it before its last log line.
 */
export function memberOf (value: unknown, name: string): unknown {
  try {
    return Object(value)[name]
  } catch {
    return undefined
  }
}
