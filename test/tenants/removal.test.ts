// What the deletion of a tenant finds that others make meanwhile.
import { join } from 'node:path'
import { test } from 'tap'
import { sqlite } from '../../adapters/sqlite.ts'
import { inject } from '../helpers/app.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { hosted } from './hosted.ts'

test('what another process creates with a key of the tenant goes too', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const open = async () => (await hosted(t, { storage: sqlite({ filename }), apiKeys: { cache: 1 } })).app
  const [deleting, other] = [await open(), await open()]
  const { key } = await deleting.users.tenant('acme').apiKeys.create({ name: 'acme', scopes: ['users:write'] })
  let created = 0
  const createUntilRefused = async () => {
    while (true) {
      const { statusCode } = await inject(other, 'POST', '/v1/users', {
        headers: { authorization: `Bearer ${key}` }, payload: { name: 'x', email: `u${created}@example.org` }
      })
      if (statusCode === 401) return
      created += 1
    }
  }
  const creating = createUntilRefused()
  await until('the other process has the key', async () => created > 0)
  await Promise.all([deleting.users.tenants.remove('acme'), creating])
  await t.rejects(deleting.users.tenants.get('acme'), { code: 'tenant_not_found' }, `${created} users were created`)
})
