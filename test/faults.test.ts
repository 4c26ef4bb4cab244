// The part of the fault suite for every commit: its checkers, and a few of its faults, a few times each.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'tap'
import { plainNode } from './helpers/plain-node.ts'

const ROOT = join(import.meta.dirname, '..')

async function run (...args: string[]): Promise<{ code: unknown, output: string }> {
  const child = spawn(...plainNode(...args), { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { output += String(chunk) })
  const [code] = await once(child, 'close')
  return { code, output }
}

test('the checkers of the fault suite find every mistake, and none where there is none', async (t) => {
  const files = ['lib/check.test.mjs', 'histories/linearizable.test.mjs'].map((name) => join('faults', name))
  const { code, output } = await run('--test', ...files)
  t.equal(code, 0, output)
})

test('nothing is lost, twice or phantom in the quick part of the fault suite', { timeout: 300_000 }, async (t) => {
  const { code, output } = await run(join('faults', 'run.mjs'), '--quick')
  for (const line of output.split('\n')) if (line !== '') t.comment(line)
  t.equal(code, 0, output.split('\n').filter((line) => /^(?:failed:| {4})/.test(line)).join('\n'))
})
