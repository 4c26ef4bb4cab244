// A primary that dies, and a standby that takes over.
import { openPatroni, withoutPatroni } from '../lib/patroni.mjs'
import { openStandby } from '../lib/postgres.mjs'
import { until } from '../lib/until.mjs'

/** The primary is gone without a word, the standby is promoted, and the network leads to it. */
async function failOver ({ store: { postgres, proxy, standby } }) {
  await postgres.kill()
  await standby.sql('SELECT pg_promote()')
  await until('the promotion', async () =>
    (await standby.sql('SELECT 1 WHERE NOT pg_is_in_recovery()')).length === 1)
  proxy.leadTo(standby.port)
  proxy.drop()
}

const failover = {
  on: ({ name }) => name === 'postgres' || name === 'postgres ×2',
  quick: [],
  proxied: true,
  direct: ({ store: { standby } }) => standby.url,
  async end ({ store: { standby } }) {
    await standby?.close()
  }
}

const begin = (settings) => async ({ store, services }) => {
  store.standby = await openStandby(store.postgres)
  for (const [name, value] of Object.entries(settings)) await store.postgres.setting(name, value)
  for (const each of services) await each.start()
}

/** The node of the leader is gone, and the network leads to whom Patroni promotes: how long that took. */
async function nodeGone (scene) {
  const { cluster, proxy } = scene.store
  const begun = performance.now()
  const elapsed = () => Math.round(performance.now() - begun)
  const gone = await cluster.leader()
  await scene.broken(async () => {
    await gone.kill()
    const promoted = await cluster.leader()
    proxy.leadTo(promoted.port)
    proxy.drop()
  })
  const promotion = elapsed()
  await scene.acknowledged(1)
  return { gone, promotion, answer: elapsed() }
}

export default [
  {
    ...failover,
    name: 'failover, synchronous',
    what: 'the primary is gone (kill −9 of all its processes), the synchronous standby is promoted',
    begin: begin({ synchronous_standby_names: '*' }),
    async run (scene) {
      await scene.acknowledged(300)
      await scene.broken(() => failOver(scene))
    }
  },
  {
    name: 'failover by Patroni',
    what: 'the node of the leader is gone (kill −9 of Patroni and its server): Patroni promotes the synchronous ' +
      'standby, and the dead node comes back as its standby; twice',
    on: ({ name }) => name === 'postgres',
    quick: [],
    skip: withoutPatroni,
    store: openPatroni,
    direct: async ({ store }) => (await store.cluster.leader()).url,
    async run (scene) {
      const promotions = []
      const answers = []
      for (let round = 0; round < scene.rounds(2, 1); round++) {
        await scene.acknowledged(300)
        const { gone, promotion, answer } = await nodeGone(scene)
        promotions.push(promotion)
        answers.push(answer)
        await gone.start()
        await scene.store.cluster.synchronous()
      }
      Object.assign(scene.notes, { promotionMs: promotions, firstAnswerMs: answers })
    }
  },
  {
    ...failover,
    name: 'failover, asynchronous (control)',
    what: 'the same, asynchronous, after the standby has received nothing for 50 writes: these must be lost',
    on: ({ name }) => name === 'postgres',
    mustFail: ['lost'],
    begin: begin({}),
    async run (scene) {
      await scene.acknowledged(300)
      await scene.broken(async () => {
        await scene.store.standby.setting('primary_conninfo', '')
        await until('the end of replication', async () =>
          (await scene.store.postgres.sql('SELECT 1 FROM pg_stat_replication')).length === 0)
        await scene.acknowledged(50)
        await failOver(scene)
      })
    }
  }
]
