// The standalone service answers probes while its tables are migrated for long, and begins to work after that.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { connectPg, pgUrlWith } from '../helpers/postgres.ts'
import { get, KEY, startService } from '../helpers/service.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

test('says that it is migrating, and makes the first key when it has ended', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  await storage.open({ migrate: true })
  await storage.close()
  const locking = await connectPg(t)
  await locking.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)

  const directory = await temporaryDirectory(t)
  const file = join(directory, 'fields.json')
  await writeFile(file, JSON.stringify({ type: 'object', properties: { nickname: { type: 'string' } } }))
  const env = {
    DATABASE_URL: pgUrlWith({ options: `-c search_path=${schema}` }),
    FIELDS_FILE: file,
    UNIQUE_FIELDS: 'nickname'
  }
  const service = startService(t, directory, env)
  const url = await service.printed(/listening at (http:\/\/[^"]+)/)
  t.strictSame(await get(`${url}/ready`), { status: 503, body: { status: 'migrating' } })
  t.equal((await get(`${url}/health`)).status, 200)
  t.equal((await get(`${url}/v1/users`, `uk_${'0'.repeat(12)}_${'0'.repeat(49)}`)).status, 401)
  t.equal(service.stdout(), '')

  const stopped = startService(t, directory, env)
  await stopped.printed(/listening at (http:\/\/[^"]+)/)
  t.equal(await stopped.stop(), 0, 'another one that is stopped meanwhile')

  await locking.query('COMMIT')
  await service.printed(/is ready/)
  const key = KEY.exec(service.stdout())?.[0]
  t.strictSame(await get(`${url}/ready`), { status: 200, body: { status: 'ready' } })
  t.equal((await get(`${url}/v1/users`, key)).status, 200)
  t.equal(await service.stop(), 0)
  t.notMatch(service.stderr(), 'no API key yet')
})
