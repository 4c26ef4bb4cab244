// Full disks.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { skipMount } from '../lib/mounts.mjs'
import { programPath } from '../../test/servers/program.mjs'
import { onPostgres, onSqlite } from '../lib/setups.mjs'
import { until } from '../lib/until.mjs'

const count = ({ record }, kind, status, since) => record.operations.filter((each) =>
  each.kind === kind && each.status === status && each.sent > since).length

/** Waits until writes are refused, and reads are not. */
async function full (scene) {
  const since = performance.now()
  await until('refused writes', () => count(scene, 'create', 503, since) >= 20, 60_000)
  const refused = performance.now()
  await until('reads beside them', () => count(scene, 'get', 200, refused) >= 20, 60_000)
}

const bytesFree = async (path) => {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

export default [
  {
    name: 'file size limit',
    what: 'the files of the service may not grow any more (prlimit), 3 times: reads go on, and space makes it well',
    on: onSqlite,
    quick: [],
    skip: () => programPath('prlimit') === undefined ? 'prlimit is not installed' : null,
    async run (scene) {
      const limit = (size) => {
        for (const { pid } of scene.services) execFileSync('prlimit', ['--pid', String(pid), `--fsize=${size}:`])
      }
      for (let i = 0; i < scene.rounds(3, 1); i++) {
        await scene.acknowledged(50)
        await scene.broken(async () => {
          limit(scene.random.below(64 * 1024))
          await full(scene)
          limit('unlimited')
        })
      }
    }
  },
  {
    name: 'disk full',
    what: 'the file system of the SQLite file is full (tmpfs), twice: reads go on, and space makes it well',
    on: onSqlite,
    quick: [],
    skip: skipMount,
    mount: '64m',
    async run (scene) {
      const { directory } = scene
      for (let i = 0; i < scene.rounds(2, 1); i++) {
        await scene.acknowledged(50)
        await scene.broken(async () => {
          await writeFile(join(directory, 'filler'), Buffer.alloc(await bytesFree(directory)))
            .catch(() => {})
          await full(scene)
          await rm(join(directory, 'filler'))
        })
      }
    }
  },
  {
    name: 'WAL full',
    what: 'the file system of PostgreSQL’s log is full (tmpfs): the server stops, and is started again with space',
    on: ({ name }) => name === 'postgres',
    quick: [],
    skip: skipMount,
    async begin ({ store: { postgres }, services, state }) {
      await postgres.stop()
      const wal = join(postgres.data, 'pg_wal')
      execFileSync('mv', [wal, `${wal}.before`])
      await mkdir(wal)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', wal])
      state.mounted = wal
      execFileSync('sh', ['-c', `cp -a ${wal}.before/. ${wal} && chown postgres:postgres ${wal} && chmod 700 ${wal}`])
      await postgres.start()
      await services[0].start()
    },
    async run (scene) {
      const { store: { postgres }, state: { mounted }, acknowledged, broken } = scene
      await acknowledged(100)
      await broken(async () => {
        await writeFile(join(mounted, 'filler'), Buffer.alloc(await bytesFree(mounted))).catch(() => {})
        // The space of segments that are there is used up first.
        await until('the end of the server, or refusals', async () => {
          await postgres.sql('SELECT pg_switch_wal()').catch(() => {})
          return !postgres.isUp() || !(await postgres.sql('SELECT 1').then(() => true, () => false))
        }, 60_000)
        await rm(join(mounted, 'filler'))
        await postgres.stop('SIGQUIT')
        await postgres.start()
      })
    },
    async end ({ store: { postgres }, state: { mounted } }) {
      await postgres.stop('SIGQUIT')
      if (mounted !== undefined && existsSync(mounted)) execFileSync('umount', [mounted])
    }
  },
  {
    name: 'data full',
    what: 'the file system of PostgreSQL’s tables is full: writes are refused, reads go on, and space makes it well',
    on: onPostgres,
    quick: [],
    skip: skipMount,
    async begin ({ store: { postgres, direct }, services, directory, state }) {
      const space = join(directory, 'space')
      await mkdir(space)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', space])
      state.mounted = space
      execFileSync('chmod', ['755', directory])
      execFileSync('mkdir', [join(space, 'tables')])
      execFileSync('chown', ['postgres:postgres', join(space, 'tables')])
      await postgres.sql(`CREATE TABLESPACE small LOCATION '${join(space, 'tables')}'`)
      await postgres.setting('default_tablespace', 'small')
      if (direct === undefined) throw new Error('no database')
      for (const each of services) await each.start()
    },
    async run (scene) {
      const { state: { mounted }, acknowledged, broken } = scene
      await acknowledged(50)
      await broken(async () => {
        await writeFile(join(mounted, 'filler'), Buffer.alloc(await bytesFree(mounted))).catch(() => {})
        await full(scene)
        await rm(join(mounted, 'filler'))
      })
    },
    async end ({ store: { postgres }, state: { mounted } }) {
      await postgres.stop('SIGQUIT')
      if (mounted !== undefined) execFileSync('umount', [mounted])
    }
  }
]
