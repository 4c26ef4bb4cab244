import { generateMersenne32Randomizer } from '@faker-js/faker'

/** A generator of random numbers that are the same for each seed. */
export function randomOf (seed) {
  const generator = generateMersenne32Randomizer(seed)
  const below = (n) => Math.floor(generator.next() * n)
  return {
    /** A whole number from 0 to `n - 1`. */
    below,
    pick: (list) => list[below(list.length)],
    chance: (share) => generator.next() < share,
    /** A generator for somebody else, who then does not depend on how often this one is asked. */
    fork: () => randomOf(below(2 ** 31))
  }
}
