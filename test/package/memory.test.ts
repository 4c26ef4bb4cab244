// The packed package in a blank project without any database: no driver is installed, and none is missed.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { blankProject, compile, compilers, node, passes } from '../helpers/blank-project.ts'

test('memory alone', async (t) => {
  const cwd = await blankProject(t, 'memory', 'module', ['fastify', '@types/node', ...Object.values(compilers)])
  const installed = await readdir(join(cwd, 'node_modules'))
  for (const name of ['knex', 'pg', 'sqlite3', 'better-sqlite3']) t.notOk(installed.includes(name), name)
  for (const compiler of Object.keys(compilers)) await compile(cwd, compiler, ['types.ts'], {})
  // The types of the SQL adapters name Knex, so only a project that has it can check them.
  await compile(cwd, 'typescript', ['use.ts'], { skipLibCheck: true, noEmit: false, outDir: 'built' })
  passes(t, await node(cwd, '--test', join('built', 'use.js')), 90)
})
