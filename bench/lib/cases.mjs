// What is asked of a server: each case gives autocannon its request, anew for each.
import { idOf, personOf } from './people.mjs'

/** A number that goes through 0..size-1 in an order that no cache likes, the same for every server. */
function wander (size) {
  let n = 0
  return () => {
    n = (n + 7919) % Math.max(size, 1)
    return n
  }
}

/** The cases for a table of so many people, in a server's dialect. `mark` tells one load from another, so that every creation is of a new address. */
export function casesFor (size, { list, get, rename, create }) {
  const page = (n) => () => () => list({ page: n, limit: 20 })
  return {
    first: page(1),
    middle: page(Math.max(1, Math.floor(size / 40))),
    last: page(Math.max(1, Math.floor(size / 20))),
    random: () => {
      const next = wander(Math.max(1, Math.floor(size / 20)))
      return () => list({ page: 1 + next(), limit: 20 })
    },
    after: () => {
      const next = wander(size - 20)
      return () => list({ after: idOf(next()), limit: 20 })
    },
    get: () => {
      const next = wander(size)
      return () => get(idOf(next()))
    },
    email: () => {
      const next = wander(size)
      return () => list({ email: personOf(next()).email })
    },
    q: () => {
      const next = wander(size)
      // A beginning that a handful of people share.
      return () => list({ q: personOf(next()).name.slice(0, -1) })
    },
    patch: (mark) => {
      const next = wander(size)
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
