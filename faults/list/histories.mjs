// Concurrent clients get answers as if everything had happened one after the other.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, play } from '../histories/clients.mjs'
import { isLinearizable } from '../histories/linearizable.mjs'
import { openPostgres } from '../lib/postgres.mjs'
import { randomOf } from '../lib/random.mjs'
import { createService } from '../lib/service.mjs'
import { onDisk } from '../lib/setups.mjs'

const CARELESS = join(import.meta.dirname, '..', 'programs', 'careless-host.mjs')

const histories = ({ services: count, program }) => async ({ setup, seed, quick }) => {
  const random = randomOf(seed)
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-faults-'))
  const postgres = setup.store === 'postgres' ? await openPostgres() : null
  const urls = {
    memory: 'memory:',
    lmdb: `lmdb:${join(directory, 'users')}`,
    sqlite: `sqlite:${join(directory, 'users.db')}`,
    postgres: postgres?.url
  }
  const env = {
    DATABASE_URL: urls[setup.store],
    ...(setup.driver !== undefined && { SQLITE_DRIVER: setup.driver })
  }
  const services = []
  for (let i = 0; i < count; i++) {
    services.push(await createService({ cwd: directory, env, ...(program !== undefined && { program }) }))
  }
  try {
    for (const each of services) await each.start()
    const connections = connect(services)
    // A control needs as many as it takes.
    const total = quick && program === undefined ? 60 : 500
    const problems = []
    let operations = 0
    let wrong = 0
    for (let number = 0; number < total; number++) {
      const history = await play(connections, random, number)
      operations += history.length
      if (isLinearizable(history)) continue
      wrong++
      if (problems.length < 2) problems.push(`history ${number} is not linearizable: ${JSON.stringify(history)}`)
    }
    for (const each of connections.flat()) each.close()
    const figures = {
      acknowledged: operations,
      lost: 0,
      twice: 0,
      phantom: 0,
      versions: 0,
      counts: 0,
      answers: wrong,
      unhandled: services.reduce((sum, each) => sum + each.unhandled(), 0),
      unknown: 0,
      slowest: 0,
      recovery: [],
      memory: 0,
      notes: { histories: total }
    }
    return { figures, problems }
  } finally {
    for (const each of services) await each.stop()
    await postgres?.close()
    await rm(directory, { recursive: true, force: true })
  }
}

export default [
  {
    name: 'histories',
    what: '500 histories of 4 clients through two services (one, in memory) are linearizable',
    on: (setup) => onDisk(setup) && setup.services === 1 && setup.pooled !== true,
    quick: ['sqlite', 'postgres'],
    alone: histories({ services: 2 })
  },
  {
    name: 'histories in memory',
    what: '500 histories of 4 clients of one service are linearizable',
    on: ({ name }) => name === 'memory',
    quick: ['memory'],
    alone: histories({ services: 1 })
  },
  {
    name: 'histories, control',
    what: 'the same on a store that checks the version before it writes, and not with it: they must not be',
    on: ({ name }) => name === 'memory',
    quick: ['memory'],
    mustFail: ['answers'],
    alone: histories({ services: 1, program: CARELESS })
  }
]
