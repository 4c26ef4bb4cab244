// What becomes of the errors of drivers: no message of ours holds SQL or values.
import { test } from 'tap'
import { isConflict, isLost, ofDriver, toStorageError } from '../../adapters/knex/connection/driver-errors.ts'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'

const names = namesOf({}, false)

const errorWith = (code: string, more: object = {}) => Object.assign(new Error("select 'secret'"), { code, ...more })

/** An error of sqlite3, which names the column in its message alone. */
const uniqueFailed = (column: string) =>
  Object.assign(new Error(`SQLITE_CONSTRAINT: UNIQUE constraint failed: ${column}`), { code: 'SQLITE_CONSTRAINT' })

/** The codes of the StorageError for an error. */
function codesOf (error: unknown): string {
  const { code, driverCode } = toStorageError(error, names)
  return `${code} ${driverCode ?? ''}`.trim()
}

const UNAVAILABLE = [
  '08006', '08P01', '53300', '53100', '57P01', '57P03', '57014', '55P03', '40001', '40P01', '25006', '28P01', '3D000',
  'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ECONNREFUSED', 'ECONNRESET',
  'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_FULL', 'SQLITE_CANTOPEN'
]
const FAULTS = ['42601', '42P01', '22021', '23503', '0800', '57P', 'SQLITE_ERROR', 'SQLITE_CORRUPT', 'X']

test('only the unique constraint of our e-mail keys is email_taken', async (t) => {
  const detail = 'Key (email_key)=(secret) already exists.'
  const byEmail = errorWith('23505', { constraint: 'fastify_users_users_email_unique', detail })
  t.equal(codesOf(byEmail), 'email_taken')
  t.equal(codesOf(errorWith('23505', { constraint: 'fastify_users_users_pkey' })), 'fault 23505')
  t.equal(codesOf(errorWith('23505', { constraint: 'hosts_email_unique' })), 'fault 23505')
  const passedOn = (name: string) =>
    Object.assign(new Error(`duplicate key value violates unique constraint "${name}"`), { code: '23505' })
  t.equal(codesOf(passedOn('fastify_users_users_email_unique_109731')), 'email_taken', 'of a part on another server')
  t.equal(codesOf(passedOn('fastify_users_users_email_unique_x')), 'fault 23505')
  t.equal(codesOf(passedOn('fastify_users_unique_plan_1a2b3c4d_102008')), 'field_taken')
  t.equal(codesOf(errorWith('23502')), 'fault 23502')
  t.equal(codesOf(uniqueFailed('fastify_users_users.email_key')), 'email_taken')
  t.equal(codesOf(uniqueFailed('fastify_users_users.id')), 'fault SQLITE_CONSTRAINT')
  t.equal(codesOf(uniqueFailed('users.email_key')), 'fault SQLITE_CONSTRAINT')
})

test('an error that may pass is unavailable, and any other is a fault', async (t) => {
  for (const code of UNAVAILABLE) t.equal(codesOf(errorWith(code)), `unavailable ${code}`)
  for (const code of FAULTS) t.equal(codesOf(errorWith(code)), `fault ${code}`)
  for (const code of [...UNAVAILABLE, ...FAULTS, '23502', '23505']) {
    t.notMatch(toStorageError(errorWith(code, { detail: 'secret' }), names).message, /secret|select/)
  }
  for (const message of [
    'timeout expired', 'timeout exceeded when trying to connect', 'Unable to acquire a connection', 'aborted',
    'The server does not support SSL connections'
  ]) t.equal(codesOf(new Error(message)), 'unavailable')
  for (const message of [
    'Connection terminated unexpectedly', 'Client has encountered a connection error and is not queryable'
  ]) t.equal(codesOf(new Error(message)), 'unavailable ECONNRESET')
  const late = Object.assign(new Error('x'), { name: 'KnexTimeoutError' })
  t.equal(codesOf(late), 'unavailable')
  t.equal(ofDriver(new Error('Unable to acquire a connection')).message,
    'the connections to the database are closed, such as by destroy() of the Knex instance (no code)')
  t.match(ofDriver(late).message, /inside a transaction of yours use app\.users\.using\(trx\) \(no code\)$/)
  for (const odd of [undefined, null, 'text', 5, {}, { code: 5 }]) t.equal(codesOf(odd), 'fault')
  const own = new StorageError('version_mismatch', 'x')
  t.equal(toStorageError(own, names), own)
})

test('what a server says that has lost another one may pass', async (t) => {
  for (const message of ['server closed the connection unexpectedly', 'failure on connection marked as essential: x',
    'could not commit transaction for shard 102008 on at least one active node']) {
    t.equal(codesOf(Object.assign(new Error(message), { code: 'XX000' })), 'unavailable XX000', message)
  }
  t.equal(codesOf(errorWith('XX000')), 'fault XX000')
})

test('a lost connection and a conflict are recognised', async (t) => {
  const isLostError = (error: unknown) => isLost(toStorageError(error, names))
  t.ok(isLostError(errorWith('ECONNRESET')))
  t.ok(isLostError(new Error('Connection terminated')))
  t.notOk(isLostError(new Error('timeout expired')))
  t.notOk(isLostError(errorWith('ECONNREFUSED')))
  t.notOk(isLostError(errorWith('42601')))
  t.notOk(isLost(null))
  t.ok(isConflict(errorWith('40001')))
  t.ok(isConflict(errorWith('40P01')))
  t.notOk(isConflict(errorWith('23505')))
  t.notOk(isConflict(null))
})

test('a driver refuses a connection of another driver', async (t) => {
  for (const name of ['pg', 'sqlite3', 'better-sqlite3', '@photostructure/sqlite', 'node:sqlite']) {
    const dialect = dialectOf(name)
    await t.rejects(dialect.run({}, 'select 1', []), TypeError, name)
    t.equal(dialect.watchCommit({}), null)
    t.doesNotThrow(() => dialect.finalizeStatements({}))
  }
})
