// Whether the answers to concurrent clients are those of some order, one after the other (Wing and Gong's search, with
// the states that were tried kept, as Lowe does).

/** The users of a history, as text: `[id, email, name, version]`, by id. */
const keyOf = (state) => JSON.stringify(state)
const find = (state, id) => state.find((user) => user[0] === id)
const holderOf = (state, email) => state.find((user) => user[1] === email)
const without = (state, id) => state.filter((user) => user[0] !== id)
const withUser = (state, user) => [...without(state, user[0]), user].sort((a, b) => (a[0] < b[0] ? -1 : 1))

/** What an operation makes of a state, or null: it can't have had its answer there. */
const STEPS = {
  create (state, { status, id, email, name }) {
    const holder = holderOf(state, email)
    if (status === 409) return holder === undefined ? null : state
    return holder === undefined ? withUser(state, [id, email, name, 1]) : null
  },
  get (state, { status, id, answer }) {
    const user = find(state, id)
    if (status === 404) return user === undefined ? state : null
    return user !== undefined && user[2] === answer.name && user[1] === answer.email && user[3] === answer.version
      ? state
      : null
  },
  find (state, { email, found }) {
    return holderOf(state, email)?.[0] === found ? state : null
  },
  patch (state, { status, id, name, email, ifMatch, answer }) {
    const user = find(state, id)
    if (status === 404) return user === undefined ? state : null
    if (user === undefined) return null
    const [, oldEmail, oldName, version] = user
    const isOld = ifMatch !== undefined && ifMatch !== version
    const holder = email === undefined ? undefined : holderOf(state, email)
    const isTaken = holder !== undefined && holder[0] !== id
    if (status === 412) return isOld ? state : null
    if (status === 409) return isTaken ? state : null
    const next = [id, email ?? oldEmail, name ?? oldName, version]
    const changes = next[1] !== oldEmail || next[2] !== oldName
    if (changes) next[3] = version + 1
    return isOld || isTaken || answer.version !== next[3] ? null : withUser(state, next)
  },
  delete (state, { status, id }) {
    const user = find(state, id)
    if (status === 404) return user === undefined ? state : null
    return user === undefined ? null : without(state, id)
  }
}

/**
 * True if a history is linearizable. Its operations have `kind`, `sent`, `ended`, what they asked for, and an answer;
 * there are 30 of them at most.
 */
export function isLinearizable (operations) {
  if (operations.length > 30) throw new Error('a history is too long')
  if (operations.some(({ status }) => status === null)) throw new Error('an operation has no answer')
  const all = (1 << operations.length) - 1
  const tried = new Set()

  function search (done, state) {
    if (done === all) return true
    const key = `${done} ${keyOf(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    // Whoever was sent after another had ended can't come before it.
    const firstEnd = Math.min(...operations.flatMap(({ ended }, i) => (done & (1 << i)) === 0 ? [ended] : []))
    return operations.some((operation, i) => {
      if ((done & (1 << i)) !== 0 || operation.sent > firstEnd) return false
      const next = STEPS[operation.kind](state, operation)
      return next !== null && search(done | (1 << i), next)
    })
  }

  return search(0, [])
}
