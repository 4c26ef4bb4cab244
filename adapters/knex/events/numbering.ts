import { gather } from '../../../lib/core/gather.ts'
import { isStorageError } from '../../../lib/storage/storage-error.ts'
import type { Executor } from '../connection/executor.ts'
import type { Names } from '../tables/names.ts'

// As many events get their positions by one statement: some 50 ms of PostgreSQL's time.
const NUMBERED_TOGETHER = 5000

// PostgreSQL, appendix A: read_only_sql_transaction, on a standby too.
const READ_ONLY = '25006'

interface Numbered {
  /** True if all events that are committed now have their positions, but for those that an erasure has locked. */
  isWhole: boolean
  /** The last position that is given, by any process; 0: the server accepts no writes, so none can be given. */
  newest: number
}

/** Gives committed events their positions, where they do not have them from the start. */
export interface Numbering {
  /** Numbers a part of them; null if they have their positions from the start. */
  some: (() => Promise<Numbered>) | null
  /** Numbers all that are committed now. */
  all (): Promise<void>
}

/** Makes the numbering of events. */
export function createNumbering ({ transaction, dialect }: Executor, names: Names): Numbering {
  const { number } = dialect.events
  async function numberOnce (statement: string): Promise<Numbered> {
    // Its statements must see what other transactions commit meanwhile, whatever the database's default is.
    const rows = await transaction((on) => on(statement, [NUMBERED_TOGETHER])).catch((error) => {
      if (isStorageError(error) && error.driverCode === READ_ONLY) return null
      throw error
    })
    if (rows === null) return { isWhole: true, newest: 0 }
    const [row] = rows
    return { isWhole: Number(row?.['numbered']) < NUMBERED_TOGETHER, newest: Number(row?.['newest']) }
  }

  const together = gather(1, (statement: string) => statement, async ([statement]) => [await numberOnce(statement)])
  const some = number === null ? null : async () => together(number(names))
  return {
    some,
    async all () {
      if (some !== null) while (!(await some()).isWhole);
    }
  }
}
