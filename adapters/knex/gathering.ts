type Find<Item> = (id: string) => Promise<Item | undefined>

interface Asked<Item> {
  id: string
  resolve: (item: Item | undefined) => void
  reject: (error: unknown) => void
}

// A longer list would keep the first who asked waiting.
const MOST = 64

/**
 * Looks up together what is asked for in one turn of the event loop: every statement costs a way to the database, which is dearer than the look-up itself. One that
 * nobody joins is looked up alone. Of 32 at once each costs 5 instead of 78 µs on SQLite, and 15 instead of 65 µs on PostgreSQL, node and database together.
 */
export function gatherFinds<Item> (findOne: Find<Item>, findMany: (ids: string[]) => Promise<ReadonlyMap<unknown, Item>>): Find<Item> {
  let waiting: Array<Asked<Item>> = []

  function answer (asked: ReadonlyArray<Asked<Item>>): void {
    const [first] = asked
    if (first !== undefined && asked.length === 1) {
      findOne(first.id).then(first.resolve, first.reject)
      return
    }
    findMany(asked.map(({ id }) => id)).then(
      (found) => { for (const { id, resolve } of asked) resolve(found.get(id)) },
      (error) => { for (const { reject } of asked) reject(error) }
    )
  }

  function flush (): void {
    const asked = waiting
    waiting = []
    for (let i = 0; i < asked.length; i += MOST) answer(asked.slice(i, i + MOST))
  }

  return (id) => new Promise((resolve, reject) => {
    if (waiting.push({ id, resolve, reject }) === 1) setImmediate(flush)
  })
}

/**
 * Does once what is asked for several times in one turn of the event loop, at its end: so the answer is not older than any of the questions. Where 32 at once ask for
 * the same page, as those who look at the newest users do, each costs 20 instead of 250 µs on PostgreSQL.
 */
export function gatherSame<Value> (): (key: string, work: () => Promise<Value>) => Promise<Value> {
  const waiting = new Map<string, Promise<Value>>()
  return (key, work) => {
    const joined = waiting.get(key)
    if (joined !== undefined) return joined
    const answer = new Promise<Value>((resolve) => {
      setImmediate(() => {
        waiting.delete(key)
        resolve(work())
      })
    })
    waiting.set(key, answer)
    return answer
  }
}
