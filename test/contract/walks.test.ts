// Every list can be read to its end by its links, in each of its orders: all of it, and nothing twice.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { newId } from '../../lib/core/ids.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { deliveryOf } from '../helpers/records.ts'
import { PLATFORM, twoTenants, URL } from '../helpers/two-tenants.ts'

const COUNT = 5
const { paths } = JSON.parse(await readFile(join(import.meta.dirname, '..', '..', 'openapi.json'), 'utf8'))

interface Parameter { name: string, schema: { enum?: string[] } }
interface Listed { get?: { parameters?: Parameter[] }, parameters?: Parameter[] }

/** The parameters of each list of the description, by its path. */
const lists = new Map(Object.entries<Listed>(paths).flatMap(([path, { get, parameters = [] }]) => {
  const own = [...parameters, ...get?.parameters ?? []]
  return own.some(({ name }) => name === 'limit') ? [[path.replace('/v1', ''), own]] : []
}))

test('each list is walked by its links in each order', async (t) => {
  const storage = memory()
  const { app, send, fill } = await twoTenants(t, storage)
  const users = app.users.tenant('acme')
  const ids: Record<string, string> = {}
  for (let n = 0; n < COUNT; n++) {
    const { id } = await users.create({ name: `User ${n % 3}`, email: `${n}@example.org` })
    const { id: deleted } = await users.create({ name: 'Gone', email: `gone${n}@example.org` })
    await users.delete(deleted)
    await users.groups.create({ name: `Group ${n}` })
    await users.apiKeys.create({ name: 'key' })
    await app.webhooks.tenant('acme').create({ url: URL })
    await app.users.tenant(`tenant${n}`).create({ name: 'One', email: 'one@example.org' })
    ids['id'] = id
  }
  for (let n = 0; n < COUNT; n++) await users.update(String(ids['id']), { name: `Name ${n}` })
  for (const { id } of (await users.groups.list()).data) {
    const all = (await users.list()).data.map((user) => user.id)
    await users.groups.changeMembers(id, { add: all })
    ids['group'] = id
  }
  const { data: [hook] } = await app.webhooks.tenant('acme').list()
  const webhook = String(hook?.id)
  await repositoryOf(storage).webhooks.change(webhook, null, () => ({
    deliveries: Array.from({ length: COUNT }, (_, n) => deliveryOf(n, { id: newId('dlv'), webhook }))
  }))
  const owners: Record<string, string | undefined> = {
    '/groups/{id}/members': ids['group'], '/webhooks/{id}/deliveries': webhook
  }
  t.ok(lists.size > 10)
  for (const [path, parameters] of lists) {
    const at = fill(path, { id: owners[path] ?? ids['id'] })
    const choices = ['sort', 'order'].flatMap((name) =>
      parameters.find((each) => each.name === name)?.schema.enum?.map((value) => `${name}=${value}&`) ?? [])
    const tenant = path === '/tenants' ? '' : '&tenant=acme'
    const read = async (link: string) => {
      const { statusCode, headers, text } = await send(PLATFORM, 'GET', link)
      t.equal(statusCode, 200, `${link} ${text}`)
      const { data }: { data: Array<{ id: string }> } = JSON.parse(text)
      const next = /<\/v1([^>]*)>; rel="next"/.exec(String(Object(headers).link))?.[1]
      return { found: data.map(({ id }) => id), next }
    }
    for (const choice of choices.length === 0 ? [''] : choices) {
      const { found: all } = await read(`${at}?${choice}limit=100${tenant}`)
      t.ok(all.length >= COUNT, `${path} has ${all.length}`)
      for (const limit of [1, 2]) {
        const walked: string[] = []
        for (let next: string | undefined = `${at}?${choice}limit=${limit}${tenant}`; next !== undefined;) {
          const page = await read(next)
          walked.push(...page.found)
          next = walked.length > all.length ? undefined : page.next
        }
        t.strictSame(walked, all, `${path} ${choice} by ${limit}`)
      }
    }
  }
})
