// Faults of the PostgreSQL server.
import { setTimeout } from 'node:timers/promises'
import { first, onPostgres } from '../lib/setups.mjs'
import { until } from '../lib/until.mjs'

const BACKENDS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM (${BACKENDS}) AS b`

/** A fault that breaks and heals the server a few times under load. */
const repeated = (times, work) => async (scene) => {
  for (let i = 0; i < scene.rounds(times, 1); i++) {
    await scene.acknowledged(100)
    await scene.broken(() => work(scene))
  }
}

const crash = (signal, pause) => async ({ store: { postgres } }) => {
  await postgres.stop(signal)
  await setTimeout(pause)
  await postgres.start()
}

export default [
  {
    name: 'backends terminated',
    what: 'every connection is ended by the server (57P01), every 100 ms for 3 s, 3 times',
    on: onPostgres,
    quick: ['postgres'],
    run: repeated(3, async ({ store: { postgres } }) => {
      for (let i = 0; i < 30; i++) {
        await postgres.sql(TERMINATE)
        await setTimeout(100)
      }
    })
  },
  {
    name: 'backend killed',
    what: 'one process of the server is killed (kill −9): the server ends all and recovers; 3 times',
    on: onPostgres,
    quick: [],
    run: repeated(3, async ({ store: { postgres }, random }) => {
      const pids = await postgres.sql(BACKENDS)
      process.kill(random.pick(pids).pid, 'SIGKILL')
      await until('recovery', () => postgres.sql('SELECT 1').then(() => true, () => false))
    })
  },
  {
    name: 'restart, fast',
    what: 'the server is stopped (fast) and started again, 5 times',
    on: onPostgres,
    quick: [],
    run: repeated(5, crash('SIGINT', 0))
  },
  {
    name: 'restart, immediate',
    what: 'the server is stopped as by a crash, for 3 s, 5 times',
    on: onPostgres,
    quick: ['postgres'],
    run: repeated(5, crash('SIGQUIT', 3000))
  },
  {
    name: 'restart, control',
    what: 'the same with synchronous_commit = off and a lazy WAL writer: acknowledged writes must be lost',
    on: ({ name }) => name === 'postgres',
    quick: [],
    mustFail: ['lost'],
    async begin ({ store: { postgres }, services }) {
      await services[0].start()
      await postgres.setting('synchronous_commit', 'off')
      await postgres.setting('wal_writer_delay', '10s')
      // The tables stay.
      await postgres.sql('CHECKPOINT')
    },
    run: repeated(5, crash('SIGQUIT', 0))
  },
  {
    name: 'server frozen',
    what: 'all processes of the server stand still for 7 s (SIGSTOP), twice',
    on: onPostgres,
    quick: [],
    run: repeated(2, async ({ store: { postgres } }) => {
      postgres.signal('SIGSTOP')
      await setTimeout(7000)
      postgres.signal('SIGCONT')
    })
  },
  {
    name: 'tables locked',
    what: 'another transaction locks the users for 8 s, so that every connection of the pool waits, twice',
    on: onPostgres,
    quick: [],
    run: repeated(2, async ({ store: { postgres } }) => {
      const other = await postgres.connect()
      await other.query('BEGIN; LOCK TABLE fastify_users_users IN ACCESS EXCLUSIVE MODE')
      await setTimeout(8000)
      await other.query('COMMIT')
      await other.end()
    })
  },
  {
    name: 'pool above the limit',
    what: 'the server gives the service 4 connections, and its pool has 10: nothing fails',
    on: first(onPostgres),
    quick: [],
    clients: 40,
    // No superuser: a limit does not hold for these.
    env: ({ store }) => ({ DATABASE_URL: store.url.replace('postgres:password@', 'limited:password@') }),
    async begin ({ store: { postgres }, services }) {
      await postgres.sql("CREATE ROLE limited LOGIN PASSWORD 'password' CONNECTION LIMIT 4")
      await postgres.sql('GRANT ALL ON SCHEMA public TO limited')
      for (const each of services) await each.start()
    },
    async run ({ acknowledged }) {
      await acknowledged(1000)
    }
  },
  {
    name: 'deadlocks',
    what: 'transactions of others lock two users in both orders, for 5 s: the server ends one of each pair',
    on: first(onPostgres),
    quick: [],
    async run ({ store: { postgres }, acknowledged, broken, notes }) {
      await acknowledged(50)
      notes.deadlocks = 0
      const rows = await postgres.sql("SELECT id FROM fastify_users_users WHERE email LIKE '%-hot-%' ORDER BY id")
      const lock = 'SELECT 1 FROM fastify_users_users WHERE id = $1 FOR UPDATE'
      await broken(async () => {
        const until = performance.now() + 5000
        await Promise.all([rows, rows.toReversed()].map(async (order) => {
          const other = await postgres.connect()
          while (performance.now() < until) {
            try {
              await other.query('BEGIN')
              for (const { id } of order) await other.query(lock, [id])
              await other.query('COMMIT')
            } catch (error) {
              if (error.code !== '40P01') throw error
              notes.deadlocks++
              await other.query('ROLLBACK')
            }
          }
          await other.end()
        }))
      })
    }
  },
  {
    name: 'read-only',
    what: 'the server becomes read-only for a while, as a primary that was demoted: reads go on',
    on: onPostgres,
    quick: [],
    async run ({ store: { postgres }, acknowledged, broken, record }) {
      await acknowledged(100)
      await broken(async () => {
        await postgres.setting('default_transaction_read_only', 'on')
        await postgres.sql(TERMINATE)
        const begun = performance.now()
        const reads = () => record.operations.filter(({ kind, status, sent }) =>
          kind === 'get' && status === 200 && sent > begun)
        await until('reads while nothing can be written', () => reads().length >= 20)
        const admin = await postgres.connect()
        await admin.query('SET default_transaction_read_only = off')
        await admin.query('ALTER SYSTEM RESET default_transaction_read_only')
        await admin.query('SELECT pg_reload_conf()')
        await admin.query(TERMINATE)
        await admin.end()
      })
    }
  }
]
