// The checker of the event log. It knows the log, the users that are there in the end, and what a reader got meanwhile.

/** Checks the order of one user's events, and that they lead to the user as it is in the end. */
function checkUser (add, id, events, found) {
  let version = 0
  let isOver = false
  for (const { type, data } of events) {
    const expected = type === 'user.updated' ? version + 1 : type === 'user.created' ? 1 : version
    if (isOver || data.version !== expected || (type === 'user.created') !== (version === 0)) {
      add(`${type} of ${id} with version ${data.version} after ${version}${isOver ? ', which was deleted' : ''}`)
    }
    version = data.version
    isOver ||= type === 'user.deleted'
  }
  if (isOver) {
    if (found !== undefined) add(`${id} is there after its deletion`)
    return
  }
  if (found === undefined) add(`${id} is gone without an event`)
  else if (found.version !== version) add(`${id} has version ${found.version}, and events up to ${version}`)
  else if (found.name !== events.at(-1).data.name) add(`the last event of ${id} has another name`)
}

/**
 * Checks a log. `log`: all events, as the feed has them in the end; `final`: the users that are there; `read`: ids in
 * the order in which a reader got them that went on after the last one, whatever happened. Returns what is wrong.
 */
export function checkEvents ({ log, final, read }) {
  const reasons = []
  const add = (reason) => reasons.push(reason)
  const ids = log.map(({ id }) => id)
  if (new Set(ids).size < ids.length) add('the log has an event twice')
  const finalById = new Map(final.map((user) => [user.id, user]))
  const ofUser = new Map()
  for (const event of log) {
    if (!event.type.startsWith('user.')) continue
    const { id } = event.data
    if (!ofUser.has(id)) ofUser.set(id, [])
    ofUser.get(id).push(event)
  }
  for (const [id, events] of ofUser) checkUser(add, id, events, finalById.get(id))
  for (const { id } of final) if (!ofUser.has(id)) add(`${id} was made without an event`)
  const first = ids.findIndex((id, i) => id !== read[i])
  if (first !== -1) add(`the reader has ${read[first] ?? 'nothing'} as its event ${first}, and the log ${ids[first]}`)
  if (read.length > ids.length) add(`the reader has ${read.length} events, and the log ${ids.length}`)
  return reasons
}
