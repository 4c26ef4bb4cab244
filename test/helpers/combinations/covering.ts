// A covering array: few rows in which every pair of levels of two factors occurs.
import { randomFrom } from '../../../adapters/testing/shrink.ts'

/** The name of a level for each factor. */
export type Row = Readonly<Record<string, string>>
/** The levels of each factor. */
export type Levels = Readonly<Record<string, readonly string[]>>
/** Two levels that can't be in one row, and why. */
export type Excluded = readonly [factor: string, level: string, other: string, otherLevel: string, reason: string]

// More of them save no row.
const CANDIDATES = 100

/** The rows, each the best of some candidates. The same seed gives the same rows. */
export function coveringRows (levels: Levels, excluded: readonly Excluded[], seed: number): Row[] {
  const random = randomFrom(seed)
  const shuffled = <Value>(values: readonly Value[]): Value[] =>
    values.map((value) => ({ value, at: random() })).sort((a, b) => a.at - b.at).map(({ value }) => value)
  const choices = Object.entries(levels).flatMap(([factor, of]) => of.map((level) => ({ factor, level })))
  const groups = Object.keys(levels).map((factor) =>
    [...choices.keys()].filter((choice) => choices[choice]?.factor === factor))
  const numberOf = (factor: string, level: string) =>
    choices.findIndex((each) => each.factor === factor && each.level === level)
  const pair = (a: number, b: number) => Math.min(a, b) * choices.length + Math.max(a, b)
  const impossible = new Set(excluded.map(([factor, level, other, otherLevel]) =>
    pair(numberOf(factor, level), numberOf(other, otherLevel))))
  const all = groups.flatMap((group, n) => groups.slice(n + 1).flatMap((others) =>
    group.flatMap((a) => others.map((b) => pair(a, b)))))
  const missing = new Set(all.filter((each) => !impossible.has(each)))

  const gainOf = (row: readonly number[], choice: number) =>
    row.reduce((sum, each) => sum + Number(missing.has(pair(each, choice))), 0)

  /** A row that is filled factor by factor with the level that covers most, and how many missing pairs it has. */
  function filled (): { row: number[], gain: number } {
    const row: number[] = []
    let sum = 0
    for (const group of shuffled(groups)) {
      const [best] = shuffled(group)
        .filter((choice) => row.every((each) => !impossible.has(pair(each, choice))))
        .map((choice) => ({ choice, gain: gainOf(row, choice) }))
        .sort((a, b) => b.gain - a.gain)
      if (best === undefined) throw new Error('no level of a factor can be with those of the others')
      row.push(best.choice)
      sum += best.gain
    }
    return { row, gain: sum }
  }

  const rows: Row[] = []
  while (missing.size > 0) {
    const [best] = Array.from({ length: CANDIDATES }, filled).sort((a, b) => b.gain - a.gain)
    if (best === undefined || best.gain === 0) throw new Error(`no row has ${missing.size} pairs`)
    for (const a of best.row) for (const b of best.row) missing.delete(pair(a, b))
    const chosen = choices.filter((_, choice) => best.row.includes(choice))
    rows.push(Object.fromEntries(chosen.map(({ factor, level }) => [factor, level])))
  }
  return rows
}
