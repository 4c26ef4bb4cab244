// Faults of the service's own process.
import { setTimeout } from 'node:timers/promises'
import { everywhere, first, onDisk } from '../lib/setups.mjs'
import { until } from '../lib/until.mjs'

const resets = ({ record }) => record.operations.filter(({ error }) => error === 'ECONNRESET' || error === 'EPIPE')

const killed = {
  name: 'kill',
  what: 'the service is killed (kill −9) and started again, 20 times',
  on: onDisk,
  quick: ['sqlite', 'postgres'],
  async run ({ random, services, acknowledged, broken, rounds }) {
    for (let i = 0; i < rounds(20, 3); i++) {
      await acknowledged(10 + random.below(40))
      await broken(async () => {
        const victim = random.pick(services)
        await victim.stop('SIGKILL')
        await victim.start()
      })
    }
  }
}

export default [
  killed,
  {
    ...killed,
    name: 'kill, control',
    what: 'the same, and clients repeat their creations without a key',
    on: ({ name }) => name === 'postgres',
    quick: [],
    idempotent: false,
    mustFail: ['twice']
  },
  {
    name: 'kill in migration',
    what: 'the service is killed while it makes its tables, 15 times; then all services start together',
    on: onDisk,
    quick: ['sqlite'],
    services: 3,
    async begin ({ random, services, rounds }) {
      for (let i = 0; i < rounds(15, 3); i++) {
        await services[0].start({ wait: false })
        // Somewhere in its start, which the seed decides.
        await setTimeout(200 + random.below(800))
        await services[0].stop('SIGKILL')
      }
      await Promise.all(services.map((each) => each.start()))
    },
    async run ({ acknowledged }) {
      await acknowledged(100)
    }
  },
  {
    name: 'SIGTERM',
    what: 'the service gets SIGTERM under load, and started again, 5 times: no client sees a reset',
    on: onDisk,
    // test/examples/standalone-shutdown.test.ts has it.
    quick: [],
    async run ({ random, services, acknowledged, broken, notes, rounds }) {
      notes.slowestEnd = 0
      for (let i = 0; i < rounds(5, 2); i++) {
        await acknowledged(50)
        await broken(async () => {
          const victim = random.pick(services)
          notes.slowestEnd = Math.max(notes.slowestEnd, Math.round(await victim.stop('SIGTERM')))
          await victim.start()
        })
      }
    },
    verify: (scene) => [
      ...(resets(scene).length > 0 ? [`${resets(scene).length} resets`] : []),
      ...(scene.notes.slowestEnd > 4000 ? [`it took ${scene.notes.slowestEnd} ms to end`] : [])
    ]
  },
  {
    name: 'event loop held',
    what: 'the service stands still for 3 s (SIGSTOP), 3 times: its deadlines do not take that for a silent database',
    on: first(everywhere),
    quick: [],
    slowest: 9000,
    async run ({ services, acknowledged, broken, rounds }) {
      for (let i = 0; i < rounds(3, 1); i++) {
        await acknowledged(50)
        await broken(async () => {
          services[0].freeze()
          await setTimeout(3000)
          services[0].thaw()
          await services[0].ready()
        })
      }
    }
  },
  {
    name: 'heap too small',
    what: 'the service has too little memory, dies of it and is started again, 3 times',
    on: first(onDisk),
    quick: [],
    // So much that it starts, and not so much that it can keep 200 long lists at a time.
    nodeOptions: ['--max-old-space-size=24', '--max-semi-space-size=1'],
    mayDie: true,
    clients: 8,
    async run ({ services: [service], acknowledged, broken, notes, rounds, flood }) {
      notes.deaths = 0
      for (let i = 0; i < rounds(3, 1); i++) {
        await acknowledged(30)
        await broken(async () => {
          service.expectEnd()
          const end = flood(300, '/v1/users?limit=100')
          await until('the death of the service', () => !service.isUp() || end.isOver()).finally(end.stop)
          if (!service.isUp()) notes.deaths++
          await service.stop('SIGKILL')
          await service.start()
        })
      }
    }
  }
]
