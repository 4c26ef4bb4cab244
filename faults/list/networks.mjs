// Faults of the network between the service and PostgreSQL.
import { setTimeout } from 'node:timers/promises'
import { onPostgres } from '../lib/setups.mjs'
import { until } from '../lib/until.mjs'

const ANSWERED = /INSERT|UPDATE|DELETE|COMMIT/

/** Resets connections while `decide` says so, until there were as many resets. */
const resetting = (count, decide) => async (scene) => {
  const { store: { proxy }, acknowledged, broken, rounds, notes, random } = scene
  await acknowledged(50)
  await broken(async () => {
    const wanted = proxy.resets() + rounds(count, 20)
    proxy.set({ kind: 'reset', decide: decide(random) })
    await until('the resets', () => proxy.resets() >= wanted, 120_000)
    proxy.set({ kind: 'pass' })
  })
  notes.resets = proxy.resets()
}

const network = (name, what, run, more = {}) =>
  ({ name, what, on: (setup) => onPostgres(setup) && setup.services === 1, quick: [], proxied: true, run, ...more })

export default [
  network('resets', 'connections are reset at random answers, 2 of 100, 200 times',
    resetting(200, (random) => (_chunk, fromServer) => fromServer && random.chance(0.02)), { quick: ['postgres'] }),
  network('resets before the answer', 'connections are reset after a write and before its answer, 200 times',
    resetting(200, (random) => {
      let armed = false
      return (chunk, fromServer) => {
        if (!fromServer) {
          armed ||= ANSWERED.test(chunk.toString('latin1')) && random.chance(0.05)
          return false
        }
        const now = armed
        armed = false
        return now
      }
    }), { quick: ['postgres'] }),
  network('frozen', 'nothing passes for 8 s, and no connection is closed, twice', async (scene) => {
    const { store: { proxy }, acknowledged, broken } = scene
    for (let i = 0; i < 2; i++) {
      await acknowledged(50)
      await broken(async () => {
        proxy.set({ kind: 'freeze' })
        await setTimeout(8000)
        proxy.set({ kind: 'pass' })
        proxy.drop()
      })
    }
  }),
  network('slow', 'every answer is late by 300 ms: nothing fails', async ({ store: { proxy }, acknowledged }) => {
    await acknowledged(50)
    proxy.set({ kind: 'delay', ms: 300 })
    await acknowledged(100)
    proxy.set({ kind: 'pass' })
  }),
  network('dropped', 'all connections are reset together, 20 times', async (scene) => {
    const { store: { proxy }, acknowledged, broken, rounds } = scene
    for (let i = 0; i < rounds(20, 3); i++) {
      await acknowledged(20)
      await broken(async () => proxy.drop())
    }
  })
]
