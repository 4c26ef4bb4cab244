// Longer names are compared by their beginning, so that a long header takes no time.
const LENGTH_MAX = 64

/** How many characters have to be added, taken off or exchanged to make one text of the other. */
function distance (from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, character] of [...from].entries()) {
    const above = row
    row = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const exchanged = (above[j] ?? 0) + (to[j] === character ? 0 : 1)
      row.push(Math.min(exchanged, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
  }
  return row.at(-1) ?? 0
}

/** The most similar of some names. */
export function nearest (name: string, names: readonly string[]): string {
  const short = name.slice(0, LENGTH_MAX)
  const distances = names.map((each) => distance(short, each.slice(0, LENGTH_MAX)))
  return names[distances.indexOf(Math.min(...distances))] ?? ''
}
