// The packed package in a blank CommonJS project: every subpath can be required, from TypeScript too.
import { join } from 'node:path'
import { test } from 'tap'
import { blankProject, compile, node, passes } from '../helpers/blank-project.ts'

test('every subpath can be required', async (t) => {
  const cwd = await blankProject(t, 'commonjs', 'commonjs', ['fastify', '@types/node', 'typescript', 'knex', 'pg', 'sqlite3'])
  passes(t, await node(cwd, '--test', 'use.cjs'), 1)
  await compile(cwd, 'typescript', ['use.cts'], { noEmit: false, outDir: 'built' })
  await node(cwd, join('built', 'use.cjs'))
})
