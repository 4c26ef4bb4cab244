// Longer names are compared by their beginning, so that a long header takes no time.
const LENGTH_MAX = 64

/** How many characters have to be added, taken off or exchanged to make one text of the other. */
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

/** The thing of a list, which is not empty, whose name is most similar. */
export function nearest<Named> (name: string, list: readonly Named[], nameOf: (each: Named) => string): Named {
  const short = name.slice(0, LENGTH_MAX)
  const measured = list.map((each) => ({ each, steps: distance(short, nameOf(each).slice(0, LENGTH_MAX)) }))
  return measured.reduce((best, next) => next.steps < best.steps ? next : best).each
}
