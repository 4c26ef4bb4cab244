// npm run test:cluster on the suite's own PostgreSQL, where a few of its parts are enough: it says what it has run.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'tap'
import { plainNode } from '../helpers/plain-node.ts'
import { pgUrl } from '../helpers/stores.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test('runs on a server, and ends with a line for the docs', { timeout: 300_000 }, async (t) => {
  const program = plainNode(join('test', 'cluster', 'run.mjs'), pgUrl(), '--only', 'processes,mounts')
  const { stdout } = await promisify(execFile)(...program, { cwd: ROOT })
  t.match(stdout, /^PostgreSQL 18\.[\w.]+: profile classic/)
  t.match(stdout, /^processes: (\d+) passed, 0 failed, \d+ s\nmounts: not run, since the server is no Citus/m)
  t.match(stdout, /\n\| PostgreSQL \| 18\.[\w.]+ \| \d{4}-\d\d-\d\d \| classic \| processes (\d+) of \1 \|\n$/)
})
