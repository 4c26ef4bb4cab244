/** Runs work of the same key one after the other, and work of different keys concurrently. */
export type KeyedQueue = <Value>(key: string, work: () => Promise<Value>) => Promise<Value>

/** Makes a queue for each key. A key without work takes no memory. */
export function createKeyedQueue (): KeyedQueue {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const before = last.get(key)
    const mine = before === undefined ? work() : before.then(work, work)
    const leave = (): void => { if (last.get(key) === mine) last.delete(key) }
    last.set(key, mine)
    mine.then(leave, leave)
    return mine
  }
}
