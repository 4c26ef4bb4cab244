import type { ClaimRequest, DeliveryRecord, WebhookChange } from '../../../lib/storage/storage.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'
import { HookStore, plantHookGap, plantHookMethods, plantHooks } from './webhook-store.ts'

type Claiming = [state: State, id: string, request: ClaimRequest]
type Taking = [state: State, deliveries: readonly DeliveryRecord[], request: ClaimRequest]

/** A mistake in what is due. */
function due (title: string, isDue: (delivery: DeliveryRecord, now: string) => boolean): Mistake {
  return plantHooks(title, class extends HookStore {
    override isDue (delivery: DeliveryRecord, now: string) {
      return isDue(delivery, now)
    }
  })
}

/** A mistake in what becomes of a delivery that is claimed. */
function claimed (title: string, change: (claimed: DeliveryRecord, before: DeliveryRecord) => DeliveryRecord): Mistake {
  return plantHooks(title, class extends HookStore {
    override claimed (delivery: DeliveryRecord, until: string) {
      return change(super.claimed(delivery, until), delivery)
    }
  })
}

/** A mistake in what is old enough to be deleted. */
function old (title: string, isOld: (delivery: DeliveryRecord, before: string) => boolean): Mistake {
  return plantHooks(title, class extends HookStore {
    override isOld (delivery: DeliveryRecord, before: string) {
      return isOld(delivery, before)
    }
  })
}

const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000)

const claims: Mistake[] = [
  due('what is due now is due a millisecond later', ({ dueAt }, now) => dueAt !== null && dueAt < now),
  due('everything that is pending is due', ({ dueAt }) => dueAt !== null),
  due('what has ended is due', ({ dueAt }, now) => dueAt === null || dueAt <= now),
  due('times are compared by their seconds', ({ dueAt }, now) => dueAt !== null && seconds(dueAt) <= seconds(now)),
  due('no time before 1970 is due', ({ dueAt }, now) => dueAt !== null && dueAt > '1970' && dueAt <= now),
  due('times have 32 bits', ({ dueAt }, now) => dueAt !== null && (seconds(dueAt) | 0) <= (seconds(now) | 0) &&
    dueAt.slice(-4) <= now.slice(-4)),
  due('the clock of the machine says what is due', ({ dueAt }) =>
    dueAt !== null && dueAt <= new Date().toISOString()),
  due('a delivery is claimed once', ({ dueAt, claims: count }, now) => count === 0 && dueAt !== null && dueAt <= now),
  plantHookMethods('an endpoint is due as often as it has deliveries that are', (_right, store) => ({
    due: async (now) => store.read((state) =>
      [...state.deliveries.values()].filter((each) => store.isDue(each, now)).map(({ webhook }) => webhook))
  })),
  plantHookMethods('the first endpoint that is due is told alone', (right) => ({
    due: async (now) => (await right.due(now)).slice(0, 1)
  })),
  plantHookMethods('every endpoint with deliveries is due', (_right, store) => ({
    due: async () => store.read((state) => [...new Set([...state.deliveries.values()].map(({ webhook }) => webhook))])
  })),
  plantHookMethods('an endpoint stays due after its deliveries were claimed', (right) => {
    const known = new Set<string>()
    return {
      due: async (now) => {
        for (const id of await right.due(now)) known.add(id)
        return [...known]
      }
    }
  }),
  plantHookGap('a claim looks some turns before it takes', 'claim'),
  plantHooks('a claim takes what is due of any endpoint', class extends HookStore {
    override claimable (...[state, , { now, limit }]: Claiming) {
      const all = [...state.deliveries.values()].filter((each) => this.isDue(each, now))
      return this.longestDue(all).slice(0, limit)
    }
  }),
  plantHooks('a claim takes all that is due', class extends HookStore {
    override claimable (...[state, id, request]: Claiming) {
      return super.claimable(state, id, { ...request, limit: Infinity })
    }
  }),
  plantHooks('a claim takes one delivery', class extends HookStore {
    override claimable (...[state, id, request]: Claiming) {
      return super.claimable(state, id, { ...request, limit: 1 })
    }
  }),
  plantHooks('a claim takes the newest first', class extends HookStore {
    override longestDue (deliveries: DeliveryRecord[]) { return this.sort(deliveries, 'desc') }
  }),
  plantHooks('a claim takes those that were made first', class extends HookStore {
    override longestDue (deliveries: DeliveryRecord[]) { return this.sort(deliveries, 'asc') }
  }),
  plantHooks('a claim looks at so many deliveries as it may take', class extends HookStore {
    override claimable (...[state, id, { now, limit }]: Claiming) {
      return this.deliveriesFor(state, id).slice(0, limit).filter((each) => this.isDue(each, now))
    }
  }),
  claimed('a claim does not add to the claims', (delivery, { claims: count }) => ({ ...delivery, claims: count })),
  claimed('a claim is the first one each time', (delivery) => ({ ...delivery, claims: 1 })),
  claimed('a claim does not end', (delivery) => ({ ...delivery, dueAt: null })),
  claimed('a claim ends immediately', (delivery, { dueAt }) => ({ ...delivery, dueAt })),
  claimed('a claim forgets the attempts', (delivery) => ({ ...delivery, attempts: [] })),
  claimed('a claim is a failure until it has an outcome', (delivery) =>
    ({ ...delivery, failures: delivery.failures + 1 })),
  plantHooks('a claim gives the deliveries as they were before', class extends HookStore {
    override take (...[state, deliveries, request]: Taking) {
      super.take(state, deliveries, request)
      return structuredClone([...deliveries])
    }
  }),
  plantHooks('a claim is not kept', class extends HookStore {
    override take (...[, deliveries, { until }]: Taking) {
      return deliveries.map((each) => structuredClone(this.claimed(each, until)))
    }
  }),
  plantHooks('a claim is kept without its number', class extends HookStore {
    override take (...[state, deliveries, request]: Taking) {
      const taken = super.take(state, deliveries, request)
      for (const { id, claims: count } of deliveries) Object.assign(state.deliveries.get(id) ?? {}, { claims: count })
      return taken
    }
  }),
  plantHooks('a claim gives the stored deliveries', class extends HookStore {
    override take (...[state, deliveries, request]: Taking) {
      return super.take(state, deliveries, request).map(({ id }) => state.deliveries.get(id)).filter((each) => !!each)
    }
  }),
  plantHooks('an outcome that comes beside a claim is lost', class extends HookStore {
    override async write<C, T> (name: string, check: (state: State) => C, apply: (state: State, taken: C) => T) {
      if (name !== 'claim') return await super.write(name, check, apply)
      const taken = await super.write(name, check, (state, result) => {
        apply(state, result)
        return result
      })
      await this.turn()
      return await super.write(name, () => taken, apply)
    }
  }),
  plantHooks('a claim that comes beside an outcome is lost', class extends HookStore {
    override async write<C, T> (name: string, check: (state: State) => C, apply: (state: State, change: C) => T) {
      if (name !== 'change') return await super.write(name, check, apply)
      const change = await super.write(name, check, (_state, result: C) => result)
      const { deliveries = [] }: WebhookChange = Object(change)
      if (!deliveries.some(({ status }) => status === 'succeeded')) return apply(this.session.state, change)
      await this.turn()
      return apply(this.session.state, change)
    }
  })
]

const pruned: Mistake[] = [
  old('what is pending is pruned', ({ createdAt }, before) => createdAt < before),
  old('what is due later alone is pruned not', ({ dueAt, createdAt }, before) =>
    (dueAt === null || dueAt < before) && createdAt < before),
  old('what was made at the time is pruned', ({ dueAt, createdAt }, before) => dueAt === null && createdAt <= before),
  old('what has ended is pruned, whatever its time', ({ dueAt }) => dueAt === null),
  old('what has failed is never pruned', ({ status, createdAt }, before) =>
    status === 'succeeded' && createdAt < before),
  old('times to prune by are compared by their seconds', ({ dueAt, createdAt }, before) =>
    dueAt === null && seconds(createdAt) < seconds(before)),
  old('nothing from before 1970 is pruned', ({ dueAt, createdAt }, before) =>
    dueAt === null && createdAt > '1970' && createdAt < before),
  plantHookMethods('pruning has no limit', (right) => ({ prune: (before) => right.prune(before, Infinity) })),
  plantHookMethods('pruning deletes one at a time', (right) => ({ prune: (before) => right.prune(before, 1) })),
  plantHookMethods('pruning answers its limit', (right) => ({
    prune: async (before, limit) => await right.prune(before, limit) > 0 ? limit : 0
  })),
  plantHookMethods('pruning counts and does not delete', (_right, store) => ({
    prune: async (before, limit) => store.read((state) =>
      Math.min(limit, [...state.deliveries.values()].filter((each) => store.isOld(each, before)).length))
  })),
  plantHookMethods('pruning counts some turns before it deletes', (right, store) => ({
    prune: async (before, limit) => {
      const count = await store.read((state) =>
        [...state.deliveries.values()].filter((each) => store.isOld(each, before)).length)
      await right.prune(before, limit)
      return Math.min(limit, count)
    }
  })),
  plantHookMethods('deliveries of removed endpoints alone are pruned', (right, { database }) => ({
    prune: async (before, limit) => database.state.webhooks.size > 0 ? 0 : right.prune(before, limit)
  }))
]

export const webhooksClaims: Mistake[] = [...claims, ...pruned]
