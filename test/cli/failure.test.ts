// What the command line says of an error, and with which exit code it ends.
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { failureOf, Refusal, UsageError } from '../../cli/failure.ts'
import { UsersError } from '../../lib/core/errors.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { run } from '../helpers/cli.ts'
import { pgUrl, temporaryDirectory } from '../helpers/stores.ts'

const internal = (cause: unknown) => new UsersError('internal', { cause })

test('says what a storage says, with the code of its driver once', (t) => {
  for (const [error, message, exitCode] of [
    [new StorageError('unavailable', 'the database does not exist (3D000)', { driverCode: '3D000' }),
      'the database does not exist (3D000)', 3],
    [new StorageError('fault', 'the storage threw an unexpected Error', { driverCode: 'E1' }),
      'the storage threw an unexpected Error (E1)', 1],
    [new StorageError('fault', 'the batch is undone'), 'the batch is undone', 1],
    [new StorageError('schema_behind', 'x'), 'the tables are behind this code: run fastify-users migrate', 1]
  ] as const) {
    t.strictSame(failureOf(error), { message, exitCode })
    t.strictSame(failureOf(internal(error)), { message, exitCode })
  }
  t.end()
})

test('says what the operating system refused, without the path', async (t) => {
  const missing = await stat(join(await temporaryDirectory(t), 'secret')).catch((error: unknown) => error)
  const failure = { message: 'stat failed: no such file or directory (ENOENT)', exitCode: 1 }
  t.strictSame(failureOf(missing), failure)
  t.strictSame(failureOf(internal(missing)), failure)
})

test('shows no message of an error that nobody has written for operators', (t) => {
  for (const error of [new Error('secret'), { syscall: 'secret' }, undefined, 'secret']) {
    t.strictSame(failureOf(error), { message: 'an unexpected error occurred', exitCode: 1 })
    t.strictSame(failureOf(internal(error)), { message: new UsersError('internal').message, exitCode: 1 })
  }
  t.strictSame(failureOf(new UsageError('x')), { message: 'x', exitCode: 2 })
  t.strictSame(failureOf(new Refusal('x')), { message: 'x', exitCode: 1 })
  t.strictSame(failureOf(new TypeError('fastify-users: x')), { message: 'fastify-users: x', exitCode: 2 })
  t.strictSame(failureOf(new Error('fastify-users: x')), { message: 'fastify-users: x', exitCode: 1 })
  t.strictSame(failureOf(new UsersError('api_key_not_found')).exitCode, 1)
  const errors = [{ parameter: 'q', code: 'type', detail: 'must be a string' }]
  t.strictSame(failureOf(new UsersError('validation_failed', { errors })),
    { message: 'q must be a string', exitCode: 2 })
  t.end()
})

test('a command says what is wrong with the database or the file system', async (t) => {
  const directory = await temporaryDirectory(t)
  const text = join(directory, 'text')
  await writeFile(text, '{"name":"Ann","email":"ann@example.org"}\n'.repeat(1000))
  const elsewhere = new URL(pgUrl())
  elsewhere.pathname = '/nowhere'
  const database = `sqlite:${join(directory, 'users.db')}`
  await run(['migrate', '-d', database])
  const dryRun = ['import', text, '--dry-run', '-d', database]
  for (const [args, code, message, env] of [
    [['check', '-d', elsewhere.href], 3, 'the database does not exist (3D000)'],
    [['check', '-d', `sqlite:${text}`], 1, 'the file is no SQLite database (SQLITE_NOTADB)'],
    [['migrate', '-d', `sqlite:${text}/deep/users.db`], 1,
      `fastify-users: sqlite(): the database file ${text}/deep/users.db can't be made (ENOTDIR)`],
    [dryRun, 1, 'fastify-users: the temporary file of a dry run can not be used (ENOENT): set TMPDIR to a directory ' +
      'that can be written, and has room', { TMPDIR: join(directory, 'none') }]
  ] as const) t.strictSame(await run([...args], env), { code, out: '', err: `${message}\n` }, args.join(' '))
})
