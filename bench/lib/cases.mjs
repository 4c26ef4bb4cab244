// The requests of each case. A case makes a function that returns the next request for autocannon.
import { idOf, personOf } from './people.mjs'

/** Numbers from 0 to `size - 1` in large steps, so that caches rarely help. Every server gets the same order. */
function strideThrough (size) {
  let n = 0
  return () => {
    n = (n + 7919) % Math.max(size, 1)
    return n
  }
}

/**
 * The cases for a table of `size` people, in a server's dialect. Cases that write take a `mark`, which is different for
 * each load, so that every new e-mail address is unique.
 */
export function casesFor (size, { list, get, rename, create }) {
  const page = (n) => () => () => list({ page: n, limit: 20 })
  return {
    random: () => {
      const next = strideThrough(Math.max(1, Math.floor(size / 20)))
      return () => list({ page: 1 + next(), limit: 20 })
    },
    first: page(1),
    middle: page(Math.max(1, Math.floor(size / 40))),
    last: page(Math.max(1, Math.floor(size / 20))),
    after: () => {
      const next = strideThrough(size - 20)
      return () => list({ after: idOf(next()), limit: 20 })
    },
    get: () => {
      const next = strideThrough(size)
      return () => get(idOf(next()))
    },
    email: () => {
      const next = strideThrough(size)
      return () => list({ email: personOf(next()).email })
    },
    q: () => {
      const next = strideThrough(size)
      // Without the last digit, so that a handful of people match.
      return () => list({ q: personOf(next()).name.slice(0, -1) })
    },
    patch: (mark) => {
      const next = strideThrough(size)
      let i = 0
      return () => rename(personOf(next()), `Changed ${mark} ${i++}`)
    },
    create: (mark) => {
      let i = 0
      return () => {
        const n = i++
        return create({ name: `New ${mark} ${n}`, email: `new.${mark}.${n}@example.com` })
      }
    }
  }
}
