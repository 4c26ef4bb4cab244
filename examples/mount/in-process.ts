import type { FastifyInstance } from 'fastify'
import { UsersError } from 'fastify-users'

/** What a host can do with its users without HTTP. */
export async function tour (app: FastifyInstance): Promise<string[]> {
  const seen: string[] = []

  const stop = app.users.events.on('user.created', ({ data, actor, requestId }) => {
    seen.push(`${data.email} by ${actor?.id ?? 'the host'} in ${requestId ?? 'process'}`)
  })

  const ann = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await app.users.update(ann.id, { name: 'Anna' }, { ifMatch: ann.version })
  const { data, meta } = await app.users.list({ q: 'ann', limit: 10 })
  seen.push(`${data.length} of ${meta.total}`)

  for await (const user of app.users.iterate()) seen.push(user.email)

  try {
    await app.users.create({ name: 'Another', email: 'ANN@example.org' })
  } catch (error) {
    if (error instanceof UsersError && error.code === 'email_taken') seen.push(error.message)
  }

  const { key, start } = await app.users.apiKeys.create({ name: 'reports', scopes: ['users:read'], expiresIn: 3600 })
  seen.push(String(key.startsWith(start)))

  await app.users.delete(ann.id)
  stop()
  return seen
}
