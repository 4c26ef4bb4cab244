// Any two writes that meet: what has come of them is what one order of them makes.
import { test } from 'tap'
import { isDeepStrictEqual } from 'node:util'
import { memory } from '../../../adapters/memory/index.ts'
import { type Repository, repositoryOf } from '../../../lib/storage/repository.ts'
import type { Storage } from '../../../lib/storage/storage.ts'
import { asOfServer, interrupted, longRaces } from './on-stores.ts'
import {
  addKey, addKeys, apiKeyOf, create, eventOf, idempotencyOf, idOf, onlyVersion, purge, putAway, readdress, remove,
  rename, restore, revoke, rotate, SINGLE, timeOf, touch, update, userOf
} from './values.ts'

type Act = (repository: Repository) => Promise<unknown>

/** What is there before, by numbers of its own, what may meet on it, and what is there afterwards. */
interface Meeting { before: Act, acts: Act[], left: Act }

/** Writes of a user that is there, of one that is put away, and of others with their addresses, ids and keys. */
function ofUsers (n: number): Meeting {
  const [there, away] = [10 * n, 10 * n + 1]
  const like = (i: number, email: number) => userOf(10 * n + i, { email: userOf(email).email })
  let events = 20 * n
  const event = (type: string) => ({ event: eventOf(events++, `user.${type}`) })
  const erasing = { ...event('purged'), erase: true }
  const one = (...[write]: Parameters<Repository['users']['writeOne']>): Act => ({ users }) => users.writeOne(write)
  const call = (i: number, key: number, members = {}): Act => ({ users }) => users.write(
    [create(userOf(10 * n + i))], { atomic: false, idempotency: idempotencyOf(10 * n + key, members) })
  return {
    before: async ({ users }) => {
      await users.write([create(userOf(there))], { atomic: false, idempotency: idempotencyOf(10 * n) })
      await users.write([create(userOf(away)), putAway(away, 100)], SINGLE)
    },
    acts: [
      one(update(there, { ...rename('First'), ...readdress(`next${n}@example.org`) }, event('updated'))),
      one(update(there, rename('First'), event('updated'))),
      one(update(there, { fields: { plan: 'pro' } }, { guard: onlyVersion(1) })),
      one(update(there, readdress(userOf(away).email))),
      one(update(there, { status: 'suspended' }, event('updated'))),
      one(remove(there, { ...event('deleted'), erase: true })),
      one(remove(there, { guard: onlyVersion(1) })),
      one(putAway(there, 110, event('deleted'))),
      one(restore(there)),
      one(restore(away, event('restored'))),
      one(restore(away, { guard: onlyVersion(1), updatedAt: timeOf(220) })),
      one(purge(there, erasing)),
      one(purge(away, { putAwayBefore: timeOf(100) })),
      one(create(like(2, away))),
      one(create(like(3, there))),
      one(create(like(1, 10 * n + 4))),
      ({ users }) => users.write([update(there, rename('In a call')), remove(away), restore(away)], SINGLE),
      ({ users }) => users.write([restore(away), putAway(there, 120)], { atomic: true, idempotency: null }),
      call(5, 0), call(6, 1), call(7, 1), call(8, 0, { now: timeOf(1500), expiresAt: timeOf(2000) }),
      ({ prune }) => prune(timeOf(1500)).then(() => 'pruned')
    ],
    left: async ({ events, storage }) => {
      const ids = Array.from({ length: 9 }, (_, i) => ({ id: idOf('usr', 10 * n + i) }))
      const keys = [0, 1].map((i) => ({ id: idempotencyOf(10 * n + i).key }))
      const histories = ids.slice(0, 2).map(({ id }) => events.history(id, { offset: 0, limit: 9 }))
      return [
        (await storage.find('users', ids)).map((row) => row?.record),
        (await storage.find('trash', ids)).map((row) => row?.record),
        (await storage.find('idempotency', keys)).map((row) => row?.of),
        (await Promise.all(histories)).map(({ items }) => items)
      ]
    }
  }
}

/** Writes of a key, and of the other one with its scope. */
function ofKeys (n: number): Meeting {
  const [key, other] = [10 * n, 10 * n + 1]
  const scopes = [`admin:${n}`]
  const one = (...[write]: Parameters<Repository['apiKeys']['write']>): Act => ({ apiKeys }) => apiKeys.write(write)
  const successor = { scopes: ['users:read'] }
  const rotation = (to: number, now: number, end: number) =>
    one(rotate(key, 10 * n + to, { successor, now: timeOf(now), expiresAt: timeOf(end) }))
  return {
    before: (repository) => addKeys(repository, apiKeyOf(key, { scopes }), apiKeyOf(other, { scopes })),
    acts: [
      rotation(2, 100, 500), rotation(3, 90, 400), rotation(4, 100, 100), one(revoke(key, 110)),
      one(revoke(key, 120, { keepOneWith: scopes })), one(revoke(other, 130, { keepOneWith: scopes })),
      one(revoke(key, 125, { keepOneWith: scopes, successors: true })), one(touch(key, 140, 80)),
      one(touch(key, 150, 145)), one(addKey(10 * n + 5, { start: apiKeyOf(10 * n + 2).start }))
    ],
    left: async ({ storage }) => {
      const ids = Array.from({ length: 6 }, (_, i) => ({ id: idOf('key', 10 * n + i) }))
      return (await storage.find('apiKeys', ids)).map((row) => row && { ...row.record, version: 0 })
    }
  }
}

/** What an act has answered, or the code of what it has thrown. */
const answerOf = (act: Act, repository: Repository): Promise<unknown> =>
  act(repository).catch((error: unknown) => Object(error).code)

interface Made { answers: unknown[], left: unknown }

/** What comes of acts one after the other. Nobody writes meanwhile, so no row need be remembered. */
async function inOrder ({ before, left }: Meeting, acts: readonly Act[]): Promise<Made> {
  const repository = repositoryOf(memory())
  await before(repository)
  const answers: unknown[] = []
  for (const act of acts) answers.push(await answerOf(act, repository))
  return { answers, left: await left(repository) }
}

/** `orders`: what each order of the two makes. */
interface Pair { meeting: Meeting, first: Act, second: Act, name: string, orders: Made[] }

async function ordersOf (meeting: Meeting, first: Act, second: Act): Promise<Made[]> {
  const { answers, left } = await inOrder(meeting, [second, first])
  return [await inOrder(meeting, [first, second]), { answers: answers.toReversed(), left }]
}

/** Every two of the acts, each pair with numbers of its own. */
async function pairsOf (meetingOf: (n: number) => Meeting): Promise<Pair[]> {
  const { length } = meetingOf(0).acts
  const pairs = Array.from({ length: length ** 2 }, async (_, n) => {
    const meeting = meetingOf(n + 1)
    const [i, j] = [Math.floor(n / length), n % length]
    const [first, second] = [meeting.acts[i], meeting.acts[j]]
    if (i === j || first === undefined || second === undefined) return []
    return [{ meeting, first, second, name: `act ${i} and act ${j}`, orders: await ordersOf(meeting, first, second) }]
  })
  return (await Promise.all(pairs)).flat()
}

for (const [what, meetingOf] of [['users', ofUsers], ['keys', ofKeys]] as const) {
  let known: Promise<Pair[]> | undefined
  const pairs = (): Promise<Pair[]> => (known ??= pairsOf(meetingOf))

  test(`one write of ${what} after each read of another, and before its commit`, async (t) => {
    const wrong: string[] = []
    // A pair has a store for each of its runs, in which are the pairs before it.
    const stores: Storage[] = []
    for (const { meeting: { before, left }, first, second, name, orders } of await pairs()) {
      for (let n = 1, reads = 0; n <= reads + 1; n++) {
        const storage = (stores[n] ??= asOfServer(memory()))
        const other = repositoryOf(storage)
        await before(other)
        const seconds: unknown[] = []
        const makeSecond = async () => { seconds.push(await answerOf(second, other)) }
        const amid = interrupted(storage, [makeSecond], n)
        const answer = await answerOf(first, repositoryOf(amid.storage))
        if (seconds.length === 0) await makeSecond()
        const made = { answers: [answer, ...seconds], left: await left(other) }
        if (!orders.some((each) => isDeepStrictEqual(each, made))) wrong.push(`${name}, at ${n}`)
        reads = amid.reads()
      }
    }
    t.strictSame(wrong, [])
  })

  longRaces(`two concurrent writes of ${what}`, async (t, { storage, repository }) => {
    const other = repositoryOf(asOfServer(storage))
    const wrong: string[] = []
    for (const { meeting: { before, left }, first, second, name, orders } of await pairs()) {
      await before(repository)
      const answers = await Promise.all([answerOf(first, repository), answerOf(second, other)])
      const made = { answers, left: await left(repository) }
      if (!orders.some((each) => isDeepStrictEqual(each, made))) wrong.push(name)
    }
    t.strictSame(wrong, [])
  })
}
