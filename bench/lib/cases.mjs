// What is asked of a server: each case gives autocannon its request, anew for each.
import { idOf, personOf } from './people.mjs'

const json = { 'content-type': 'application/json' }

/** A number that goes through 0..size-1 in an order that no cache likes, the same for every server. */
function wander (size) {
  let n = 0
  return () => {
    n = (n + 7919) % Math.max(size, 1)
    return n
  }
}

/** The cases for a table of so many people. `mark` tells one load from another, so that every creation is of a new address. */
export function casesFor (size) {
  const page = (n) => () => () => ({ path: `/v1/users?page=${n}&limit=20` })
  return {
    first: page(1),
    middle: page(Math.max(1, Math.floor(size / 40))),
    last: page(Math.max(1, Math.floor(size / 20))),
    after: () => {
      const next = wander(size - 20)
      return () => ({ path: `/v1/users?after=${idOf(next())}&limit=20` })
    },
    get: () => {
      const next = wander(size)
      return () => ({ path: `/v1/users/${idOf(next())}` })
    },
    email: () => {
      const next = wander(size)
      return () => ({ path: `/v1/users?email=${encodeURIComponent(personOf(next()).email)}` })
    },
    q: () => {
      const next = wander(size)
      // A beginning that a handful of people share.
      return () => ({ path: `/v1/users?q=${encodeURIComponent(personOf(next()).name.slice(0, -1))}` })
    },
    patch: (mark) => {
      const next = wander(size)
      let i = 0
      return () => ({ method: 'PATCH', path: `/v1/users/${idOf(next())}`, headers: json, body: JSON.stringify({ name: `Changed ${mark} ${i++}` }) })
    },
    create: (mark) => {
      let i = 0
      return () => {
        const n = i++
        return { method: 'POST', path: '/v1/users', headers: json, body: JSON.stringify({ name: `New ${mark} ${n}`, email: `new.${mark}.${n}@example.com` }) }
      }
    }
  }
}
