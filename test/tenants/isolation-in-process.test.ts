// In process, what a program does for one tenant reaches nothing of another: each method is tried with what belongs to
// the other, and answers as for what does not exist.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { TenantUsers } from '../../lib/index.ts'
import { newId } from '../../lib/core/ids.ts'
import { ANN, asText, type Ids, twoTenants, unknownIds, URL } from '../helpers/two-tenants.ts'

type App = Awaited<ReturnType<typeof twoTenants>>['app']

/** The ways to the users of a tenant. */
const ways: Record<string, (app: App) => Promise<TenantUsers>> = {
  'tenant()': async ({ users }) => users.tenant('acme'),
  'tenant().as()': async ({ users }) => users.tenant('acme').as({ id: 'jo', type: 'staff' }),
  'as().tenant()': async ({ users }) => users.as({ id: 'jo' }).tenant('acme'),
  async 'for() a verified caller' ({ users }) {
    const { key } = await users.tenant('acme').apiKeys.create({ name: 'program' })
    const app = Fastify()
    let found: TenantUsers | undefined
    app.get('/', async (request) => {
      await users.apiKeys.verify(request)
      found = users.for(request)
    })
    await app.inject({ url: '/', headers: { authorization: `Bearer ${key}` } })
    await app.close()
    if (found === undefined) throw new Error('the caller was refused')
    return found
  }
}

/** What a tenant can call, with ids. `own`: the ids of its own records. */
const callsOf = (app: App, users: TenantUsers, ids: Ids, own: Ids) => {
  const { user, deleted, key, event, webhook, delivery, group } = ids
  const hooks = app.webhooks.tenant('acme')
  const update = { op: 'update', id: user, body: { name: 'X' } } as const
  const calls: Record<string, () => Promise<unknown>> = {
    get: () => users.get(user),
    'list of ids': () => users.list({ ids: [user, deleted] }),
    update: () => users.update(user, { name: 'X' }),
    'update of nothing': () => users.update(user, {}),
    'update of a status': () => users.update(user, { status: 'suspended' }),
    delete: () => users.delete(user),
    'delete and erase': () => users.delete(user, { erase: true }),
    purge: () => users.delete(user, { purge: true }),
    'purge of a deleted one': () => users.delete(deleted, { purge: true }),
    'erasure of a deleted one': () => users.delete(deleted, { erase: true }),
    restore: () => users.restore(deleted),
    revert: () => users.revert(user, event),
    'revert of its own': () => users.revert(own.user, event),
    batch: () => users.batch([update, { op: 'delete', id: user }, { op: 'restore', id: deleted }]),
    'atomic batch': () => users.batch([update], { atomic: true }),
    subject: () => users.subject(user),
    'subject that is deleted': () => users.subject(deleted),
    import: () => users.import([{ id: user, ...ANN }], { onConflict: 'update', by: 'id' }),
    history: () => users.events.ofUser(user),
    'history of a deleted one': () => users.events.ofUser(deleted),
    'events after': () => users.events.list({ after: event }),
    'api key': () => users.apiKeys.get(key),
    rotate: () => users.apiKeys.rotate(key),
    revoke: () => users.apiKeys.revoke(key),
    'revoke with successors': () => users.apiKeys.revoke(key, { successors: true }),
    uses: () => users.apiKeys.uses(key),
    webhook: () => hooks.get(webhook),
    'update of a webhook': () => hooks.update(webhook, { url: URL, enabled: false }),
    'delete a webhook': () => hooks.delete(webhook),
    'rotate a secret': () => hooks.rotateSecret(webhook),
    'test a webhook': () => hooks.test(webhook),
    replay: () => hooks.replay(webhook, { since: '2026-01-31T09:30:00Z' }),
    'replay of its own': () => hooks.replay(own.webhook, { after: event }),
    deliveries: () => hooks.deliveries(webhook),
    retry: () => hooks.retry(webhook, delivery),
    'retry of its own': () => hooks.retry(own.webhook, delivery),
    'retry of another': () => hooks.retry(webhook, own.delivery),
    group: () => users.groups.get(group),
    'update of a group': () => users.groups.update(group, { name: 'X' }),
    'delete a group': () => users.groups.delete(group),
    'members of a group': () => users.groups.members(group),
    'users of a group': () => users.list({ group }),
    'add to a group': () => users.groups.changeMembers(group, { add: [own.user] }),
    'add to its own': () => users.groups.changeMembers(own.group, { add: [user] }),
    'groups of a user': () => users.groups.of(user)
  }
  return calls
}

/** All that a tenant reads. */
async function allOf (app: App, tenant: string): Promise<string> {
  const users = app.users.tenant(tenant)
  const walked: unknown[] = []
  for await (const user of users.iterate({}, { snapshot: true })) walked.push(user)
  const hooks = await app.webhooks.tenant(tenant).list()
  const deliveries = hooks.data.map(({ id }) => app.webhooks.tenant(tenant).deliveries(id))
  return JSON.stringify([
    await users.list(), await users.listDeleted(), walked, await users.apiKeys.list(), await users.events.list(), hooks,
    await Promise.all(deliveries), await users.groups.list()
  ])
}

const codeOf = ({ code, message }: { code?: string, message?: string }) => ({ code, message })

for (const [way, open] of Object.entries(ways)) {
  test(`by ${way} one tenant reaches nothing of another`, async (t) => {
    const { app, idsOf } = await twoTenants(t, memory())
    const faults: string[] = []
    // An id of before all that the tenant has, and after an event of the platform's.
    await app.users.apiKeys.create({ name: 'platform' })
    const early = newId('evt')
    const users = await open(app)
    const own = await idsOf('acme')
    const before = await allOf(app, 'acme')
    const other = await idsOf('beta')
    if (await allOf(app, 'acme') !== before) faults.push('it sees what another tenant does')
    const unknown = unknownIds()
    const kept = await allOf(app, 'beta')
    for (const name of Object.keys(callsOf(app, users, other, own))) {
      const answerFor = async (ids: Ids) => {
        const call = callsOf(app, users, ids, own)[name]
        return asText(ids, await call?.().then((value) => ({ value }), codeOf) ?? {})
      }
      if (await answerFor(other) !== await answerFor(unknown)) faults.push(`${name} tells that another tenant has it`)
    }
    for (const ask of [
      () => users.events.list({ after: early }),
      () => app.webhooks.tenant('acme').replay(own.webhook, { after: early })
    ]) {
      const code = await ask().then(() => 'none', (error) => error.code)
      if (code !== 'events_expired') faults.push('how old an event is depends on those of others')
    }
    if (await allOf(app, 'beta') !== kept) faults.push('what another tenant has was changed')
    t.strictSame(faults, [])
  })
}
