/**
 * A shorter list that still fails, by leaving out parts, from halves to single items. `fails` is asked at most
 * `attempts` times.
 */
export async function shrink<Item> (
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
  attempts = 150
): Promise<readonly Item[]> {
  let left = attempts
  let kept = items
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < kept.length && left > 0;) {
      const rest = [...kept.slice(0, start), ...kept.slice(start + size)]
      left--
      if (await fails(rest)) kept = rest
      else start += size
    }
  }
  return kept
}

/** Evenly distributed numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom (seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
