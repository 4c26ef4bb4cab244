// Faults of the SQLite file.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { skipMount } from '../lib/mounts.mjs'
import { onSqlite } from '../lib/setups.mjs'
import { until } from '../lib/until.mjs'

// A process of its own: a connection in this one would drop its locks with any other that is closed.
const LOCKER = `
  const { sqlite } = await import(${JSON.stringify(new URL('../lib/sqlite-connection.mjs', import.meta.url).href)})
  const connection = sqlite(process.argv[1])
  connection.exec('BEGIN IMMEDIATE')
  process.stdout.write('locked')
  process.stdin.on('end', () => { connection.exec('ROLLBACK'); process.exit() }).resume()`

/** Locks a file for writing, in a process of its own. Returns a function that ends it. */
async function lock (filename) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', LOCKER, filename], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const ended = once(child, 'exit').then(([code]) => { throw new Error(`the locker has ended with ${code}`) })
  await Promise.race([once(child.stdout, 'data'), ended])
  ended.catch(() => {})
  return async () => {
    const ending = once(child, 'exit')
    child.stdin.end()
    await ending
  }
}

/** Waits until so many operations of a kind had this status since now. */
async function answered ({ record }, count, kind, status) {
  const since = performance.now()
  await until(`${count} answers ${status} to ${kind}`, () => record.operations.filter((each) =>
    each.kind === kind && each.status === status && each.sent > since).length >= count)
}

/** Ends the services, puts the file back, and starts them again. */
async function restart ({ services }, restore) {
  for (const each of services) await each.stop('SIGTERM')
  await restore()
  for (const each of services) await each.start()
}

const filesOf = (filename) => [filename, `${filename}-wal`, `${filename}-shm`]

async function moveAway (filename) {
  for (const file of filesOf(filename)) await rename(file, `${file}.away`).catch(() => {})
}

async function moveBack (filename) {
  for (const file of filesOf(filename)) {
    await rm(file, { force: true })
    await rename(`${file}.away`, file).catch(() => {})
  }
}

export default [
  {
    name: 'file locked',
    readers: 2,
    what: 'another process locks the file for 3 s and for 8 s: reads go on, and writes that wait too long are 503',
    on: onSqlite,
    quick: [],
    async run (scene) {
      for (const seconds of scene.rounds([3, 8], [1])) {
        await scene.acknowledged(50)
        await scene.broken(async () => {
          const unlock = await lock(scene.store.filename)
          try {
            await answered(scene, 50, 'get', 200)
            await setTimeout(seconds * 1000)
          } finally {
            await unlock()
          }
        })
      }
    }
  },
  {
    name: 'file deleted',
    what: 'the file is moved away under load: nothing is acknowledged until it is back and the service started again',
    on: onSqlite,
    quick: ['sqlite'],
    async run (scene) {
      const { filename } = scene.store
      await scene.acknowledged(50)
      await scene.broken(async () => {
        await moveAway(filename)
        await answered(scene, 20, 'create', 503)
        await restart(scene, () => moveBack(filename))
      })
    }
  },
  {
    name: 'file replaced',
    what: 'the file is replaced by an older copy under load: no write is acknowledged until that is undone',
    on: onSqlite,
    quick: [],
    async run (scene) {
      const { filename } = scene.store
      await scene.acknowledged(50)
      await scene.broken(async () => {
        await copyFile(filename, `${filename}.copy`)
        await moveAway(filename)
        await rename(`${filename}.copy`, filename)
        await answered(scene, 20, 'create', 503)
        await restart(scene, () => moveBack(filename))
      })
    }
  },
  {
    name: 'file read-only',
    what: 'the directory becomes read-only: the service started on it refuses or serves, and acknowledges no write',
    on: ({ name }) => name.startsWith('sqlite') && name !== 'sqlite ×3',
    quick: [],
    skip: skipMount,
    async run (scene) {
      const { directory, services: [service], acknowledged, broken, record, notes } = scene
      await acknowledged(50)
      await broken(async () => {
        await service.stop('SIGTERM')
        execFileSync('mount', ['--bind', '-o', 'ro', directory, directory])
        try {
          await service.start({ wait: false })
          service.expectEnd()
          const before = record.operations.length
          await until('answers, or a refusal to start', () =>
            !service.isUp() || record.operations.slice(before).some(({ status }) => status === 503))
          notes.readOnly = service.isUp() ? 'writes refused' : 'refused to start'
          await service.stop('SIGKILL')
        } finally {
          execFileSync('umount', [directory])
        }
        await service.start()
      })
    }
  },
  {
    name: 'file corrupt',
    what: '100 random bytes of the file are changed: the service started on it refuses or serves, and never hangs',
    on: ({ name }) => name.startsWith('sqlite') && name !== 'sqlite ×3',
    quick: [],
    // What readers of the broken file got is taken back with it.
    undone: true,
    async run (scene) {
      const { filename } = scene.store
      await scene.acknowledged(500)
      await scene.broken(async () => {
        const [service] = scene.services
        await service.stop('SIGTERM')
        // Also what was asked for while nobody listened may be answered from the broken file.
        const before = scene.record.operations.length
        for (const file of await readdir(scene.directory)) {
          await copyFile(`${scene.directory}/${file}`, `${scene.directory}/${file}.away`)
        }
        const { size } = await stat(filename)
        const handle = await open(filename, 'r+')
        for (let i = 0; i < 100; i++) {
          await handle.write(Buffer.from([scene.random.below(256)]), 0, 1, 4096 + scene.random.below(size - 4096))
        }
        await handle.close()
        await service.start({ wait: false })
        service.expectEnd()
        const started = scene.record.operations.length
        await until('answers, or a refusal to start', () =>
          !service.isUp() || scene.record.operations.length > started + 200)
        scene.notes.corrupt = service.isUp() ? 'served' : 'refused to start'
        // What was read of it is worth nothing.
        scene.forget(before)
        await service.stop('SIGKILL')
        await moveBack(filename)
        await service.start()
      })
    }
  }
]
