/** A value that is made when it is first asked for: an LRU cache takes 2.5 ms of a start, for its arrays. */
export function lazy<Value> (make: () => Value): () => Value {
  let made: { value: Value } | null = null
  return () => (made ??= { value: make() }).value
}
