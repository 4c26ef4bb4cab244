import { gather } from '../../../lib/core/gather.ts'
import type { Names } from '../tables/names.ts'
import type { Reading } from './executor.ts'
import { whichTables } from './which-tables.ts'

// What is committed without waiting for the disk is visible before it is flushed.
const POSITION = "SELECT (CASE pg_catalog.current_setting('synchronous_commit') WHEN 'off' " +
  'THEN pg_catalog.pg_current_wal_insert_lsn() ELSE pg_catalog.pg_current_wal_flush_lsn() END)::text AS position'
// Which cluster it is, and which timeline: a promoted standby begins another one.
const LINEAGE = "SELECT (pg_catalog.pg_control_system()).system_identifier || ' ' || " +
  'pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_flush_lsn()), 8) AS lineage'

const FORM = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/
const HALF = 2 ** 32
// Writers ask for it far more often.
const SAMPLE_GAP_MS = 50

/** The place of a position in the write-ahead log, in bytes; null: it has no form of ours. */
export function placeOf (position: string): number | null {
  const [, high, low] = FORM.exec(position) ?? []
  return high === undefined || low === undefined ? null : Number.parseInt(high, 16) * HALF + Number.parseInt(low, 16)
}

export function positionOf (place: number): string {
  const hexadecimal = (half: number): string => half.toString(16).toUpperCase()
  return `${hexadecimal(Math.floor(place / HALF))}/${hexadecimal(place % HALF)}`
}

/** How far the primary has come. */
export interface PrimaryPositions {
  /** Behind all that is committed now. @throws StorageError `unavailable`; `fault` for a server that is no primary */
  now (): Promise<string>
  /** False for a place that no client can have from it, and if it can't be asked. */
  hasReached (place: number): Promise<boolean>
  /** Where whoever is no further behind than the bound has come at least; Infinity: the primary has not answered. */
  floor (): number
  /** Asks where it is, which primary it is, and which tables it has. */
  sample (): Promise<void>
  /** Cluster and timeline; null: not known. */
  lineage (): string | null
  /** Which tables it has; null: none, or not known. */
  tables (): string | null
}

/** Follows a primary. `maxLagMs`: the bound on how old a read may be. */
export function followPrimary ({ read }: Reading, names: Names, maxLagMs: number): PrimaryPositions {
  /** The oldest first. Whoever has come to a place has everything that was committed when it was asked for. */
  const samples: Array<{ asked: number, place: number }> = []
  let lineage: string | null = null
  /** Where it was at least. */
  let reached = 0
  let tables: string | null = null

  function keep (asked: number, place: number): void {
    const last = samples.at(-1)
    if (last?.place === place) last.asked = Math.max(last.asked, asked)
    else if (last === undefined || asked - last.asked >= SAMPLE_GAP_MS) samples.push({ asked, place })
  }

  async function ask (): Promise<string> {
    const asked = performance.now()
    const [row] = await read(POSITION)
    const position = String(row?.['position'])
    const place = placeOf(position)
    keep(asked, place ?? Infinity)
    reached = Math.max(reached, place ?? 0)
    return position
  }

  const together = gather(1, () => '', async () => [await ask()])
  const now = () => together(null)
  return {
    now,
    async hasReached (place) {
      // A failure leaves it at the place that is known.
      if (reached < place) await now().catch(() => {})
      return reached >= place
    },
    floor () {
      const since = performance.now() - maxLagMs
      while (samples[0] !== undefined && samples[0].asked < since) samples.shift()
      return samples[0]?.place ?? Infinity
    },
    lineage: () => lineage,
    tables: () => tables,
    async sample () {
      await now()
      tables = await whichTables(read, names).catch(() => tables)
      // A role may lack the right to know it.
      lineage = await read(LINEAGE).then(([row]) => String(row?.['lineage']), () => null)
    }
  }
}
