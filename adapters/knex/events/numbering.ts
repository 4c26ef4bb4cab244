import { createCoalescer } from '../batching/coalesce.ts'
import type { Executor } from '../connection/executor.ts'
import type { Names } from '../tables/names.ts'

// As many events get their positions by one statement: some 50 ms of PostgreSQL's time.
const NUMBERED_TOGETHER = 5000

/** Gives committed events their positions, where they do not have them from the start. */
export interface Numbering {
  /** Numbers a part of them, and returns how many got a position. */
  some (): Promise<number>
  /** Numbers all that are committed now. */
  all (): Promise<void>
}

/** Makes the numbering of events. */
export function createNumbering ({ transaction, dialect }: Executor, names: Names): Numbering {
  const { number } = dialect.events
  const together = createCoalescer<number>()

  async function numberOnce (statement: string): Promise<number> {
    // Its statements must see what other transactions commit meanwhile, whatever the database's default is.
    const [row] = await transaction((on) => on(statement, [NUMBERED_TOGETHER]))
    return Number(row?.['numbered'])
  }

  const some = async (): Promise<number> => number === null ? 0 : together('', () => numberOnce(number(names)))
  return {
    some,
    async all () {
      while (await some() === NUMBERED_TOGETHER);
    }
  }
}
