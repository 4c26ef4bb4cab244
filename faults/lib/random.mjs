/** A generator of random numbers that are the same for each seed (mulberry32). */
export function randomOf (seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    /** A whole number from 0 to `n - 1`. */
    below: (n) => Math.floor(next() * n),
    pick: (list) => list[Math.floor(next() * list.length)],
    chance: (share) => next() < share,
    /** A generator for somebody else, who then does not depend on how often this one is asked. */
    fork: () => randomOf(Math.floor(next() * 2 ** 32))
  }
}
