/** One of the sums; behind the last, more than any position. */
const sumAt = (sums: readonly number[], at: number): number => sums[at] ?? Infinity

/** Counts in a row, with the sum of those before each and the place that a sum falls on in a logarithm of steps: a binary indexed tree (Fenwick, 1994). */
export class Counts {
  /** From 1 on: the sum of as many counts up to there as the lowest bit of the place says. */
  readonly #sums: number[]
  readonly #top: number

  constructor (counts: readonly number[]) {
    const sums = [0, ...counts]
    for (let at = 1; at < sums.length; at++) {
      const next = at + (at & -at)
      if (next < sums.length) sums[next] = sumAt(sums, next) + sumAt(sums, at)
    }
    this.#sums = sums
    this.#top = counts.length === 0 ? 0 : 1 << (31 - Math.clz32(counts.length))
  }

  /** Makes one of the counts more by so many, or fewer. */
  add (place: number, more: number): void {
    for (let at = place + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = sumAt(this.#sums, at) + more
  }

  /** The sum of the first so many. */
  before (place: number): number {
    let sum = 0
    for (let at = place; at > 0; at -= at & -at) sum += sumAt(this.#sums, at)
    return sum
  }

  /** The place of the count in which the one at this position is counted; behind the last where there is none. */
  find (position: number): number {
    let place = 0
    let rest = position
    for (let step = this.#top; step > 0; step >>= 1) {
      const sum = sumAt(this.#sums, place + step)
      if (sum > rest) continue
      place += step
      rest -= sum
    }
    return place
  }
}
