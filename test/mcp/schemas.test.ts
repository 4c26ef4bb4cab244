// The schemas of tools, which clients compile.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { test } from 'tap'
import { mcp } from '../../lib/mcp-plugin.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'

for (const trash of [true, false]) {
  test(`every schema compiles, and nothing final is offered (trash: ${trash})`, async (t) => {
    const { app } = await testApp(t, { trash, groups: true, eventLog: true })
    await app.register(mcp, { write: true })
    const { key } = await app.users.apiKeys.create({ name: 'agent', scopes: ALL_SCOPES })
    const answer = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { authorization: `Bearer ${key}` },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    })
    const { tools }: { tools: Array<{ name: string, inputSchema: object }> } = answer.json().result
    const schemas = new Map(tools.map(({ name, inputSchema }) =>
      [name, new Ajv2020({ strict: false, validateFormats: false }).compile(inputSchema)]))
    t.equal(schemas.has('deleteUser'), trash)
    t.notOk(schemas.has('deleteGroup'))
    const takes = (op: string): boolean | undefined => schemas.get('writeUsers')?.({
      body: { operations: [{ op, id: 'usr_01h455vb4pex5vsknk084sn02q' }] }
    })
    t.strictSame(['delete', 'restore', 'purge'].map(takes), [trash, trash, false])
  })
}
