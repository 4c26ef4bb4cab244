// A covering array: few rows in which every pair of levels of two factors occurs.

/** The name of a level for each factor. */
export type Row = Readonly<Record<string, string>>
/** The levels of each factor. */
export type Levels = Readonly<Record<string, readonly string[]>>
/** Two levels that can't be in one row, and why. */
export type Excluded = readonly [factor: string, level: string, other: string, otherLevel: string, reason: string]

/** Every level of every factor by its number, and what each pair of numbers is. */
interface Table {
  numbers: Map<string, number[]>
  names: string[]
  /** Whether two levels can be in one row. */
  fits: (one: number, other: number) => boolean
  /** Whether the pair of two levels is in no row yet. */
  isMissing: (one: number, other: number) => boolean
  cover: (row: readonly number[]) => void
  missing: () => string[]
}

const choiceName = (factor: string, level: string): string => `${factor}: ${level}`

function tableOf (levels: Levels, excluded: readonly Excluded[]): Table {
  const names: string[] = []
  const numbers = new Map(Object.entries(levels).map(([factor, of]) =>
    [factor, of.map((level) => names.push(choiceName(factor, level)) - 1)]))
  const count = names.length
  const open = new Uint8Array(count * count)
  const possible = new Uint8Array(count * count).fill(1)
  const forbid = (one: number, other: number): void => {
    possible[one * count + other] = 0
    possible[other * count + one] = 0
  }
  for (const of of numbers.values()) for (const one of of) for (const other of of) forbid(one, other)
  for (const [factor, level, other, otherLevel] of excluded) {
    forbid(names.indexOf(choiceName(factor, level)), names.indexOf(choiceName(other, otherLevel)))
  }
  open.set(possible)
  return {
    numbers,
    names,
    fits: (one, other) => possible[one * count + other] === 1,
    isMissing: (one, other) => open[one * count + other] === 1,
    cover (row) { for (const one of row) for (const other of row) open[one * count + other] = 0 },
    missing: () => [...open.keys()].filter((at) => open[at] === 1 && at % count > at / count)
      .map((at) => `${names[Math.floor(at / count)]} & ${names[at % count]}`)
  }
}

/** The pairs that can be combined and that no row has. */
export function missingPairs (rows: readonly Row[], levels: Levels, excluded: readonly Excluded[]): string[] {
  const { names, cover, missing } = tableOf(levels, excluded)
  for (const row of rows) cover(Object.entries(row).map((choice) => names.indexOf(choiceName(...choice))))
  return missing()
}

/** Makes a function that gives numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function randomOf (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function shuffled<Value> (values: readonly Value[], random: () => number): Value[] {
  return values.map((value) => ({ value, at: random() })).sort((a, b) => a.at - b.at).map(({ value }) => value)
}

/** How many missing pairs a level has with others. */
const gainOf = ({ isMissing }: Table, row: readonly number[], level: number): number =>
  row.reduce((sum, chosen) => sum + Number(isMissing(chosen, level)), 0)

/** A row that is filled factor by factor with the level that covers most. Null: no level of a factor fits. */
function fill (table: Table, random: () => number): number[] | null {
  const row: number[] = []
  for (const levels of shuffled([...table.numbers.values()], random)) {
    const [best] = shuffled(levels, random)
      .filter((level) => row.every((chosen) => table.fits(chosen, level)))
      .map((level) => ({ level, gain: gainOf(table, row, level) }))
      .sort((a, b) => b.gain - a.gain)
    if (best === undefined) return null
    row.push(best.level)
  }
  return row
}

// More of them save no row.
const CANDIDATES = 100

/** The rows, each the best of some candidates. The same seed gives the same rows. */
export function coveringRows (levels: Levels, excluded: readonly Excluded[], seed: number): Row[] {
  const table = tableOf(levels, excluded)
  const random = randomOf(seed)
  const gain = (row: readonly number[]): number => row.reduce((sum, level) => sum + gainOf(table, row, level), 0)
  const rows: Row[] = []
  while (table.missing().length > 0) {
    const candidates = Array.from({ length: CANDIDATES }, () => fill(table, random)).filter((row) => row !== null)
    const [best] = candidates.map((row) => ({ row, gain: gain(row) })).sort((a, b) => b.gain - a.gain)
    if (best === undefined || best.gain === 0) throw new Error(`no row has ${table.missing().join(', ')}`)
    table.cover(best.row)
    const chosen = new Set(best.row.map((level) => table.names[level]))
    rows.push(Object.fromEntries(Object.entries(levels).map(([factor, of]) =>
      [factor, of.find((level) => chosen.has(choiceName(factor, level))) ?? ''])))
  }
  return rows
}
