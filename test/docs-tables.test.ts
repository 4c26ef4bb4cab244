// The tables of the docs have what the code declares. UPDATE=1 npm test -- test/docs-tables.test.ts writes them.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { describe, operationsOf } from './helpers/description.ts'
import {
  adminOptionNames, adminOptionRows, errorCodes, markedOptions, optionNames, optionRows, withOptionTables
} from './helpers/docs/tables.ts'

const page = (name: string) => join(import.meta.dirname, '..', 'docs', name)

for (const { name, names, readRows } of [
  { name: 'options.md', names: optionNames, readRows: optionRows },
  { name: 'admin.md', names: adminOptionNames, readRows: adminOptionRows }
]) {
  test(`docs/${name} has the description and the default of each option`, async (t) => {
    const [before, rows] = [await readFile(page(name), 'utf8'), await readRows()]
    t.strictSame([...rows.keys()].sort(), [...names].sort(), 'each option has a docstring')
    t.strictSame(markedOptions(before).sort(), [...names].sort(), 'each option is in one table')
    const after = withOptionTables(before, rows)
    if (process.env['UPDATE'] === '1') await writeFile(page(name), after)
    else t.equal(before, after)
  })
}

test('docs/errors.md lists each code with its status, in the order of the table', async (t) => {
  const text = await readFile(page('errors.md'), 'utf8')
  const rows = [...text.matchAll(/^\| \[?`(\w+)`.*?\| (\d{3}) \|/gm)]
  const listed = rows.map(([, code, status]) => ({ code, status: Number(status) }))
  t.strictSame(listed, errorCodes)
  for (const { code } of errorCodes) t.match(text, `### ${code}\n`, `${code} has a section`)
})

test('docs/http-api.md lists each operation with its scope and its status', async (t) => {
  const scopes = new Map<string, string>()
  const { description } = await describe(t, {
    mounts: [{
      prefix: '/v1',
      apiKeys: { routes: true, countUses: true },
      eventLog: true,
      trash: true,
      tenants: true,
      webhooks: true,
      groups: true,
      admin: true
    }],
    before: (app) => app.addHook('onRoute', ({ method, url, config }) => {
      const access = config?.fastifyUsers
      if (access === undefined || !('scopes' in access)) return
      const isBatch = config?.fastifyUsersOperation === 'writeUsers'
      const ofAny = isBatch ? 'each operation’s' : 'none'
      scopes.set(`${String(method)} ${url}`, access.scopes.length === 0 ? ofAny : `\`${access.scopes[0]}\``)
    })
  })
  const expected = operationsOf(description).map(({ method, path, operation }) => {
    const [status] = Object.keys(Object(operation.responses)).filter((each) => each.startsWith('2'))
    const route = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
    return `${method.toUpperCase()} ${path.replace('/v1', '')} | ${scopes.get(route)} | ${status}`
  })
  const text = await readFile(page('http-api.md'), 'utf8')
  const rows = [...text.matchAll(/^\| \[?`([A-Z]+ \S+)`\S* \| (.+?) \| (\d{3}) \|/gm)]
  t.strictSame(rows.map(([, route, scope, status]) => `${route} | ${scope} | ${status}`).sort(), expected.sort())
})
