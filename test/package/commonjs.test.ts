// The packed package in a blank CommonJS project: every subpath can be required, from TypeScript too.
import { join } from 'node:path'
import { test } from 'tap'
import { blankProject, compile, compilers, node, passes } from '../helpers/blank-project.ts'

test('every subpath can be required', async (t) => {
  const cwd = await blankProject(t, 'commonjs', 'commonjs', ['fastify', '@types/node', ...Object.values(compilers), 'knex', 'pg', 'sqlite3'])
  passes(t, await node(cwd, '--test', 'use.cjs'), 1)
  for (const compiler of Object.keys(compilers)) await compile(cwd, compiler, ['use.cts'], { noEmit: false, outDir: 'built' })
  await node(cwd, join('built', 'use.cjs'))
})
