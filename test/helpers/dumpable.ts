// A database that the machine's pg_dump can read: it must not be older than the server.
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from './until.ts'
import { pgUrl, sql } from './stores.ts'

async function run (command: string, args: string[], options: SpawnOptions): Promise<void> {
  const child = spawn(command, args, { ...options, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
}

/** The account that PostgreSQL runs under: root may not. */
function account (): { uid?: number, gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'postgres']).stdout)
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Starts a server from the programs in a directory, until the end of the test. */
async function startServer (t: Test, programs: string): Promise<string> {
  const { uid, gid = uid } = account()
  const directory = await mkdtemp(join(tmpdir(), 'dumpable-'))
  if (uid !== undefined && gid !== undefined) await chown(directory, uid, gid)
  const data = join(directory, 'data')
  const as = { ...account(), cwd: directory }
  const how = ['-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8']
  await run(join(programs, 'initdb'), ['-D', data, ...how], as)
  const port = String(20_000 + randomBytes(2).readUInt16BE() % 12_000)
  const server = spawn(join(programs, 'postgres'), ['-D', data, '-p', port, '-h', '127.0.0.1', '-k', directory],
    { ...as, stdio: 'ignore' })
  t.teardown(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGINT')
    await ended
    await rm(directory, { recursive: true })
  })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await until('the start of PostgreSQL', () =>
    spawnSync('psql', [url, '--command', 'CREATE DATABASE users'], { stdio: 'ignore' }).status === 0, 30_000)
  return url.replace(/postgres$/, 'users')
}

/** The server that this machine's pg_dump can read: that of all tests, one of these programs, or null for none. */
export async function dumpableServer (): Promise<'ours' | { programs: string } | null> {
  const [, major = ''] = /(\d+)\./.exec(String(spawnSync('pg_dump', ['--version']).stdout)) ?? []
  const [row] = await sql('SHOW server_version_num')
  if (Number(major) >= Math.floor(Number(Object(row).server_version_num) / 10_000)) return 'ours'
  const programs = `/usr/lib/postgresql/${major}/bin`
  if (major !== '' && existsSync(join(programs, 'initdb'))) return { programs }
  if (process.env['REQUIRE_PG_DUMP'] === '1') throw new Error('no pg_dump here is as new as a server')
  return null
}

/** The URL of an empty database on such a server. */
export async function dumpableDatabase (t: Test, server: 'ours' | { programs: string }): Promise<string> {
  if (server !== 'ours') return startServer(t, server.programs)
  const name = `dump_${randomBytes(6).toString('hex')}`
  await sql(`CREATE DATABASE ${name}`)
  t.teardown(() => sql(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(pgUrl())
  url.pathname = name
  return url.href
}
