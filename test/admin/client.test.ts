// The client in a browser, where addresses may be relative and what is uploaded is a file.
import { build } from 'esbuild'
import { adminHost, openTab, pageTest } from '../helpers/admin-page.ts'

pageTest('the client works in a browser, under a policy that lets in nothing else', async (t) => {
  const { outputFiles: [file] } = await build({
    entryPoints: ['client/index.ts'], bundle: true, write: false, format: 'esm', target: 'es2023'
  })
  const { users, origin, createKey } = await adminHost(t, {
    before: (app) => app.get('/client.js', async (_request, reply) => reply.type('text/javascript').send(file?.text))
  })
  const page = await openTab(t, `${origin}/admin/`)
  const key = await createKey()
  const seen = await page.evaluate(`(async () => {
    const { ClientError, createClient } = await import('/client.js')
    const users = createClient({ baseUrl: '../v1', key: ${JSON.stringify(key)}, pageSize: 2 })
    const ann = await users.create({ name: 'Ann', email: 'ann@example.org', seats: 1 })
    await Promise.all([1, 2, 3].map(() => users.update(ann.id, ({ seats }) => ({ seats: seats + 1 }))))
    const csv = new Blob(['name,email\\nBob,bob@example.org\\nCid,cid@example.org\\n'])
    const summary = await users.import(csv, { format: 'csv' })
    const names = []
    for await (const { name } of users.iterate({ sort: '-name' })) names.push(name)
    const lines = (await new Response(await users.export({ columns: 'name,seats' })).text()).trim().split('\\n')
    const ended = new AbortController()
    const types = []
    for await (const { type } of users.events.after('now', { signal: ended.signal, onPosition: async () => {
      if (types.length === 0) await users.delete(ann.id)
    } })) {
      types.push(type)
      ended.abort()
    }
    const refused = await users.get(ann.id).catch((error) => [error instanceof ClientError, error.code])
    return { seats: ann.seats, summary, names, lines, types, refused }
  })()`)
  t.strictSame(seen, {
    seats: 1,
    summary: { created: 2, updated: 0, skipped: 0, refused: 0, dryRun: false },
    names: ['Cid', 'Bob', 'Ann'],
    lines: ['{"name":"Ann","seats":4}', '{"name":"Bob"}', '{"name":"Cid"}'],
    types: ['user.deleted'],
    refused: [true, 'user_not_found']
  })
  t.equal((await users.list()).meta.total, 2)
})
