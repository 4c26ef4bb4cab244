// Only the beginning of a longer name is compared, so that a long name costs little time.
const LENGTH_MAX = 64

/** The edit distance: how many characters must be added, removed or replaced to turn one text into the other. */
function distance (from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  let left = to.length
  for (const character of from) {
    let diagonal = 0
    row = row.map((above, i) => {
      left = i === 0 ? above + 1 : Math.min(above + 1, left + 1, diagonal + (to[i - 1] === character ? 0 : 1))
      diagonal = above
      return left
    })
  }
  return left
}

/** The item of a list whose name is most similar. The list must not be empty. */
export function nearest<Named> (name: string, list: readonly Named[], nameOf: (each: Named) => string): Named {
  return ranked(name, list, nameOf).each
}

/** The most similar name, if it is so similar that one was mistyped for the other. */
export function mistyped (name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const { each, steps } = ranked(name.toLowerCase(), known, (each) => each.toLowerCase())
  return steps <= Math.ceil(name.length / 4) ? each : undefined
}

function ranked<Named> (name: string, list: readonly Named[], nameOf: (each: Named) => string) {
  const short = name.slice(0, LENGTH_MAX)
  const measured = list.map((each) => ({ each, steps: distance(short, nameOf(each).slice(0, LENGTH_MAX)) }))
  return measured.reduce((best, next) => next.steps < best.steps ? next : best)
}
