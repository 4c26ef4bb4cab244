// Several clients at once, judged by what is there afterwards; and requests that nobody has thought of.
import { test } from 'tap'
import { from } from '../helpers/level.ts'
import { type Answer, patch, served, USER } from './served.ts'

const CALLS = 20
const FUZZED = from('nightly') === false ? 20_000 : 1000
const SLOW_MS = 5000

const tally = (answers: readonly Answer[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const concurrently = (call: (i: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: CALLS }, (_, i) => call(i)))

test('of concurrent requests each is made on what the others left', async (t) => {
  const { app, ask } = await served(t)
  const made = await concurrently(() => ask('POST', '/Users', { userName: 'one@example.org' }))
  t.strictSame(tally(made), { 201: 1, 409: CALLS - 1 })
  t.ok(made.every(({ status, body }) => status === 201 || body['scimType'] === 'uniqueness'))
  const id = String(made.find(({ status }) => status === 201)?.body['id'])
  const path = `/Users/${id}`

  // Each change is made on what the others left; of those that name a version one is made.
  const members = ['title', 'displayName', 'active'] as const
  const changes = await concurrently((i) => ask('PATCH', path, patch({
    op: 'replace', path: members[i % 3] ?? 'title', value: i % 3 === 2 ? false : `v${i % 3}`
  })))
  t.strictSame(tally(changes), { 200: CALLS })
  const { body } = await ask('GET', path)
  t.match(body, { title: 'v0', displayName: 'v1', active: false })
  const version = { 'if-match': String(Object(body['meta']).version) }
  const guarded = await concurrently((i) => i % 2 === 0
    ? ask('PATCH', path, patch({ op: 'replace', path: 'title', value: `p${i}` }), version)
    : ask('PUT', path, { userName: 'one@example.org', title: `p${i}` }, version))
  t.strictSame(tally(guarded), { 200: 1, 412: CALLS - 1 })

  // Twenty changes of the members of one group.
  const ids: string[] = []
  for (let n = 0; n < 2 * CALLS; n++) {
    ids.push(String((await ask('POST', '/Users', { userName: `m${n}@example.org` })).body['id']))
  }
  const { body: group } = await ask('POST', '/Groups', {
    displayName: 'G', members: ids.slice(0, CALLS).map((value) => ({ value }))
  })
  const at = `/Groups/${String(group['id'])}`
  t.strictSame(tally(await concurrently((i) => ask('PATCH', at, patch(
    { op: 'add', path: 'members', value: [{ value: ids[CALLS + i] }] },
    { op: 'remove', path: `members[value eq "${ids[i] ?? ''}"]` }
  )))), { 204: CALLS })
  const left: Array<{ value: string }> = Object((await ask('GET', at)).body['members'])
  t.strictSame(left.map(({ value }) => value), ids.slice(CALLS).sort())
  t.equal((await app.users.groups.get(String(group['id']))).members, CALLS)
})

test(`${FUZZED} requests that are drawn at random`, async (t) => {
  const { ask } = await served(t)
  let seed = 7
  const below = (n: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % n
  }
  const one = <Item>(items: readonly Item[]): Item | undefined => items[below(items.length)]
  const words = [
    'userName', 'active', 'name.givenName', 'emails[type eq "work"].value', 'members', '__proto__', 'constructor', '',
    '[', '"', 'eq', 'and', 'or', 'not', '(', ')', 'pr', 'sw', '"x"', 'true', '\u0000', '🦊', 'x'.repeat(300), USER, 'id',
    'meta.created', 'externalId'
  ]
  const text = (): string => Array.from({ length: below(7) }, () => one(words)).join(one([' ', '', '.']) ?? '')
  const value = (depth = 0): unknown => one<() => unknown>([
    () => null, () => true, () => 'False', () => 'a@example.org', () => below(9), text, () => [], () => ({}),
    () => depth > 3 ? 1 : [value(depth + 1), value(depth + 1)],
    () => depth > 3 ? 2 : { value: value(depth + 1), type: 'work' },
    () => depth > 3 ? 3 : { [text()]: value(depth + 1), [one(words) ?? '']: value(depth + 1) }
  ])?.()
  const known: string[] = ['x']
  const before = Object.getOwnPropertyNames(Object.prototype)
  let slowest = 0
  const statuses = new Set<number>()
  for (let i = 0; i < FUZZED; i++) {
    const type = one(['Users', 'Groups', 'Bulk', 'Users/.search', 'Schemas']) ?? 'Users'
    const method = one(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) ?? 'GET'
    const path = method === 'POST' || below(4) === 0 ? `/${type}` : `/${type}/${encodeURIComponent(one(known) ?? '')}`
    const parameter = one(['filter', 'attributes', 'cursor', 'count', 'sortBy']) ?? ''
    const query = below(3) === 0 ? `?${new URLSearchParams({ [parameter]: text() }).toString()}` : ''
    const operations = Array.from({ length: below(4) }, () => ({
      op: one(['add', 'Replace', 'remove', 'x']), ...below(3) > 0 && { path: text() }, value: value()
    }))
    const user = { userName: `u${below(30)}@example.org`, displayName: value(), [one(words) ?? '']: value() }
    const body = method === 'PATCH' ? patch(...operations) : type === 'Bulk' ? { Operations: [value(), value()] } : user
    const begun = performance.now()
    const answer = await ask(method, `${path}${query}`, method === 'GET' || method === 'DELETE' ? undefined : body)
    slowest = Math.max(slowest, performance.now() - begun)
    statuses.add(answer.status)
    if (answer.status >= 500) t.fail(`${method} ${path}${query} ${JSON.stringify(body)} gave ${answer.status}`)
    if (answer.status === 201) known.push(String(answer.body['id']))
  }
  t.ok([200, 201, 400, 404, 405, 409].every((status) => statuses.has(status)), [...statuses].join())
  t.ok(slowest < SLOW_MS, `the slowest took ${slowest} ms`)
  t.strictSame(Object.getOwnPropertyNames(Object.prototype), before)
})
