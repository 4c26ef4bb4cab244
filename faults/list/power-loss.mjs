// The power goes: at any moment, a disk has what was synced, and any part of the rest.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openClient, versionOf } from '../lib/http.mjs'
import { DISKS, playLog, readLog } from '../lib/disk-log.mjs'
import { randomOf } from '../lib/random.mjs'
import { createService, KEY } from '../lib/service.mjs'
import { onSqlite } from '../lib/setups.mjs'
import { shimmed, skipShim } from '../lib/shim.mjs'
import { sqlite } from '../lib/sqlite-connection.mjs'

const WRITERS = 6
const HOST = join(import.meta.dirname, '..', 'programs', 'sqlite-host.mjs')

/** Clients that create and change users, until there were so many answers. */
async function write (origin, wanted) {
  let answers = 0
  await Promise.all(Array.from({ length: WRITERS }, async (_, writer) => {
    const { send, close } = openClient(origin, KEY)
    for (let n = 0; answers < wanted; n++) {
      const email = `${writer}-${n}@example.org`
      const { status, body, headers } = await send('POST', '/v1/users', { body: { name: 'Before', email } })
      if (status !== 201) throw new Error(`a creation: ${status}`)
      const change = { headers: { 'if-match': `"${versionOf(headers)}"` }, body: { name: 'After' } }
      const { status: changed } = await send('PATCH', `/v1/users/${body.id}`, change)
      if (changed !== 200) throw new Error(`a change: ${changed}`)
      answers += 2
    }
    close()
  }))
  return answers
}

/** The user and the version that an answer of success says are safe. */
function promiseOf (answer) {
  const id = /usr_[0-9a-z]{26}/.exec(answer)?.[0]
  const version = Number(/^etag: "(\d+)"/im.exec(answer)?.[1])
  return id === undefined || Number.isNaN(version) ? null : { id, version }
}

/** What is there after a loss of power: `lost` of the promises, and whether the file is whole. */
async function lookAt (files, promises) {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-faults-disk-'))
  try {
    for (const [path, content] of files) await writeFile(join(directory, basename(path)), content)
    const database = sqlite(join(directory, 'users.db'))
    try {
      const [check] = database.all('PRAGMA integrity_check')
      const users = new Map(database.all('SELECT id, version FROM fastify_users_users')
        .map(({ id, version }) => [id, version]))
      const lost = [...promises].filter(([id, version]) => !(users.get(id) >= version)).length
      return { lost, whole: check.integrity_check === 'ok' }
    } finally {
      database.close()
    }
  } catch (error) {
    return { lost: promises.size, whole: false, error: error.message }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const powerLoss = (program) => async ({ setup, seed, quick }) => {
  const random = randomOf(seed)
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-faults-'))
  const log = join(directory, 'log')
  const filename = join(directory, 'users.db')
  const env = {
    DATABASE_URL: `sqlite:${filename}`,
    SQLITE_DRIVER: setup.driver,
    ...shimmed({ SHIM_LOG: log, SHIM_PATH: filename })
  }
  const service = await createService({ cwd: directory, env, ...program })
  try {
    await service.start()
    const acknowledged = await write(service.origin, quick ? 300 : 1200)
    await service.stop('SIGKILL')
    const promises = new Map()
    const cuts = []
    const share = (quick ? 15 : 60) / acknowledged
    playLog(readLog(await readFile(log)), random, (answer, snapshot) => {
      const promise = promiseOf(answer)
      if (promise !== null) promises.set(promise.id, Math.max(promise.version, promises.get(promise.id) ?? 0))
      if (promise === null || !random.chance(share)) return
      for (const disk of Object.keys(DISKS)) cuts.push({ disk, files: snapshot(disk), promises: new Map(promises) })
    })
    const figures = {
      acknowledged,
      lost: 0,
      twice: 0,
      phantom: 0,
      versions: 0,
      counts: 0,
      answers: 0,
      unhandled: service.unhandled(),
      unknown: 0,
      slowest: 0,
      recovery: [],
      memory: 0,
      notes: { images: cuts.length, broken: 0 }
    }
    const problems = []
    for (const { disk, files, promises } of cuts) {
      const { lost, whole, error } = await lookAt(files, promises)
      figures.lost += lost
      if (!whole) figures.notes.broken++
      if (lost === 0 && whole) continue
      problems.push(`a disk that ${disk}: ${lost} lost of ${promises.size}, ${error ?? `whole: ${whole}`}`)
    }
    if (cuts.length === 0) problems.push('nothing was recorded')
    return { figures, problems: problems.slice(0, 5) }
  } finally {
    await service.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

export default [
  {
    name: 'power loss',
    what: 'every write and sync is recorded; at 60 answers the power goes, and 4 kinds of disk have kept what they may',
    on: (setup) => onSqlite(setup) && setup.services === 1,
    quick: ['sqlite'],
    skip: skipShim,
    alone: powerLoss({})
  },
  {
    name: 'power loss, control',
    what: 'the same on a host whose connection has synchronous = OFF: acknowledged writes must be lost',
    on: ({ name }) => name === 'sqlite',
    quick: ['sqlite'],
    skip: skipShim,
    mustFail: ['lost'],
    alone: powerLoss({ program: HOST })
  }
]
