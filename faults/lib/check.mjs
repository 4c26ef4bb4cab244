// The checker. It knows the record of the clients and the users that are there in the end, and nothing else.
import { isOk, isUnknown, isWrite } from './record.mjs'

const EXPECTED = {
  create: [201, 409, 503],
  patch: [200, 404, 412, 503],
  delete: [204, 404, 503],
  get: [200, 404, 503],
  list: [200, 503]
}
const REASONS_MAX = 5

function groupBy (list, keyOf) {
  const groups = new Map()
  for (const each of list) {
    const key = keyOf(each)
    if (key === undefined) continue
    if (groups.has(key)) groups.get(key).push(each)
    else groups.set(key, [each])
  }
  return groups
}

/** Figures with the reasons for each, the first few. */
function createFindings () {
  const findings = { lost: 0, twice: 0, phantom: 0, versions: 0, counts: 0, answers: 0 }
  const reasons = []
  return {
    findings,
    reasons,
    add (kind, reason) {
      findings[kind]++
      if (reasons.length < REASONS_MAX) reasons.push(`${kind}: ${reason}`)
    }
  }
}

/** Acknowledged writes whose effect is not there. */
function checkLost (add, byId, finalById) {
  for (const [id, all] of byId) {
    const found = finalById.get(id)
    const deletions = all.filter(({ kind }) => kind === 'delete')
    const mayBeDeleted = deletions.some((each) => isOk(each) || isUnknown(each))
    const patches = all.filter((each) => each.kind === 'patch' && isOk(each))
    const created = all.some((each) => each.kind === 'create' && isOk(each))
    if (found === undefined) {
      if ((created || patches.length > 0) && !mayBeDeleted) add('lost', `user ${id}`)
      continue
    }
    if (deletions.some(isOk)) add('lost', `the deletion of ${id}`)
    const version = Math.max(0, ...patches.map(({ answer }) => answer.version))
    if (found.version < version) add('lost', `version ${version} of ${id}, which has ${found.version}`)
    const last = patches.find(({ answer }) => answer.version === found.version)
    if (last !== undefined && last.name !== found.name) add('lost', `the name of ${id}`)
  }
}

/** Users that are there twice, or were made twice by one request. */
function checkTwice (add, creations, byId, final) {
  for (const [email, all] of groupBy(final, (user) => user.email.toLowerCase())) {
    if (all.length > 1) add('twice', email)
  }
  for (const [key, all] of groupBy(creations, (each) => each.key)) {
    if (new Set(all.filter(isOk).map(({ id }) => id)).size > 1) add('twice', `the key ${key} made several users`)
  }
  for (const [email, all] of groupBy(creations, (each) => each.email)) {
    const ok = all.filter(isOk)
    for (const [id] of groupBy(ok, (each) => each.id)) {
      const end = Math.min(...ok.filter((each) => each.id === id).map(({ ended }) => ended))
      const later = ok.some((each) => each.id !== id && each.sent > end)
      const isGone = (byId.get(id) ?? []).some((each) => each.kind === 'delete' && (isOk(each) || isUnknown(each)))
      if (later && !isGone) add('twice', `${email} was created again while ${id} had it`)
    }
    // Nobody else wants this address: its first attempt was carried out, and the second one is refused.
    const isOwn = all.every(({ race }) => race !== true)
    if (isOwn && all.length > 1 && all.some(isUnknown) && all.some(({ status }) => status === 409)) {
      add('twice', `a repeated creation of ${email} was refused because of the first`)
    }
  }
}

/** Users that nobody can have made. */
function checkPhantoms (add, creations, final) {
  const byEmail = groupBy(creations, (each) => each.email.toLowerCase())
  for (const { id, email } of final) {
    const made = byEmail.get(email.toLowerCase()) ?? []
    const isKnown = made.some((each) => isUnknown(each) || (isOk(each) && each.id === id))
    if (!isKnown) add('phantom', `${id} ${email}`)
  }
}

/** Versions that do not follow from the changes. */
function checkVersions (add, byId, finalById) {
  for (const [id, all] of byId) {
    const patches = all.filter(({ kind }) => kind === 'patch')
    const ok = patches.filter(isOk)
    if (new Set(ok.map(({ answer }) => answer.version)).size < ok.length) add('versions', `${id} has one version twice`)
    const guarded = ok.filter(({ ifMatch }) => ifMatch !== undefined)
    if (new Set(guarded.map(({ ifMatch }) => ifMatch)).size < guarded.length) {
      add('versions', `${id} was changed twice from one version`)
    }
    const skipped = guarded.some(({ ifMatch, answer }) => answer.version !== ifMatch + 1)
    if (skipped) add('versions', `${id} skipped a version`)
    const found = finalById.get(id)
    if (found === undefined) continue
    const unknown = patches.filter(isUnknown).length
    const least = 1 + ok.length
    if (found.version < least || found.version > least + unknown) {
      add('versions', `${id} has ${found.version} after ${ok.length} changes and ${unknown} unknown ones`)
    }
  }
}

/** What was done to a user: its deletions, and the version that was acknowledged before a moment. */
function historyOf (all) {
  const patches = all.filter((each) => each.kind === 'patch' && isOk(each)).sort((a, b) => a.ended - b.ended)
  let most = 1
  const versions = patches.map(({ ended, answer }) => {
    most = Math.max(most, answer.version)
    return { ended, most }
  })
  return {
    deletions: all.filter(({ kind }) => kind === 'delete'),
    versionBefore: (moment) => versions.findLast(({ ended }) => ended < moment)?.most ?? 1
  }
}

/** Answers that the contract does not give, or that are older than what was acknowledged before the question. */
function checkAnswers (add, operations, byId, isExcused) {
  const histories = new Map([...byId].map(([id, all]) => [id, historyOf(all)]))
  for (const each of operations) {
    const { kind, status, id, sent, answer } = each
    const what = `${kind} ${status ?? each.error}`
    if (each.ended === null) {
      add('answers', `${kind} never ended`)
      continue
    }
    if (status === null || status === 503) {
      if (!isExcused(each)) add('answers', `${what} outside of a fault: ${JSON.stringify(answer ?? null)}`)
      if (status === 503 && each.retryAfter !== true) add('answers', `${what} without Retry-After`)
      continue
    }
    if (!EXPECTED[kind].includes(status)) {
      add('answers', `${what}: ${JSON.stringify(answer)}`)
      continue
    }
    if (id === undefined || kind === 'create') continue
    const { deletions, versionBefore } = histories.get(id)
    const begun = deletions.filter((other) => other.sent < each.ended)
    if (status === 404 && !begun.some((other) => isOk(other) || isUnknown(other))) {
      add('answers', `${what} for ${id}, which nobody has deleted`)
    }
    if (status === 200 && begun.some((other) => isOk(other) && other.ended < sent)) {
      add('answers', `${what} for ${id}, which was deleted`)
    }
    const known = versionBefore(sent)
    if (status === 200 && answer.version < known) add('answers', `${what}: version ${answer.version} after ${known}`)
  }
}

/** The first success after each moment at which a fault ended, in milliseconds; null: none came. */
function recoveries (operations, heals) {
  return heals.map((heal) => {
    const good = operations.filter((each) => isWrite(each) && isOk(each) && each.ended >= heal)
    return good.length === 0 ? null : good.reduce((least, { ended }) => Math.min(least, ended), Infinity) - heal
  })
}

/**
 * Checks what is there against the record. `final`: the users in the end, `totals`: their numbers, as different ways
 * count them. `windows`: `{ from, to }` of each fault, in which an operation may have no answer, or a 503; `grace`: and
 * for so many milliseconds after it. `to` null: until the end.
 */
export function check ({ operations, final, totals, windows, grace = 2000 }) {
  const { findings, reasons, add } = createFindings()
  const creations = operations.filter(({ kind }) => kind === 'create')
  const byId = groupBy(operations, ({ id }) => id)
  const finalById = new Map(final.map((user) => [user.id, user]))
  const isExcused = ({ sent, ended }) => windows.some(({ from, to }) =>
    ended >= from && (to === null || sent <= to + grace))
  checkLost(add, byId, finalById)
  checkTwice(add, creations, byId, final)
  checkPhantoms(add, creations, final)
  checkVersions(add, byId, finalById)
  for (const total of totals) if (total !== final.length) add('counts', `${total} counted of ${final.length}`)
  checkAnswers(add, operations, byId, isExcused)
  const ended = operations.filter((each) => each.ended !== null)
  const writes = operations.filter(isWrite)
  return {
    ...findings,
    reasons,
    acknowledged: writes.filter(isOk).length,
    unknown: writes.filter(isUnknown).length,
    refused: writes.filter(({ status }) => status === 503).length,
    slowest: Math.round(ended.reduce((most, each) => Math.max(most, each.ended - each.sent), 0)),
    recovery: recoveries(operations, windows.flatMap(({ to }) => to === null ? [] : [to]))
  }
}
