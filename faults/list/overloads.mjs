// More requests than a slow database can do.
import { everywhere, first } from '../lib/setups.mjs'
import { isOk } from '../lib/record.mjs'

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0

/** The times of what was served and of what was refused in the window, in whole milliseconds. */
function times ({ record, notes, window }) {
  const isInside = ({ sent, ended }) => ended !== null && sent >= window.from && sent <= window.to
  const inside = record.operations.filter(isInside)
  const of = (test) => inside.filter(test).map(({ sent, ended }) => ended - sent)
  const [served, refused] = [of(isOk), of(({ status }) => status === 503)]
  notes.served = served.length
  notes.p99Served = Math.round(percentile(served, 0.99))
  notes.refused = refused.length
  notes.medianRefused = Math.round(percentile(refused, 0.5))
}

export default [
  {
    name: 'overload',
    what: '500 clients while each answer of the database is late by 100 ms: served soon, or refused immediately',
    on: ({ name }) => name === 'postgres',
    quick: [],
    proxied: true,
    clients: 500,
    async run (scene) {
      const { store: { proxy }, acknowledged, broken } = scene
      await broken(async () => {
        // From the first request on: the burst alone may be too much for a busy machine.
        await acknowledged(500, 120_000)
        const from = performance.now()
        proxy.set({ kind: 'delay', ms: 100 })
        await acknowledged(scene.rounds(1500, 300), 120_000)
        proxy.set({ kind: 'pass' })
        scene.window = { from, to: performance.now() }
      })
      times(scene)
    },
    verify: ({ notes: { p99Served, medianRefused, refused } }) => [
      ...(p99Served > 1500 ? [`p99 of what was served: ${p99Served} ms`] : []),
      ...(refused > 0 && medianRefused > 50 ? [`median of what was refused: ${medianRefused} ms`] : [])
    ]
  },
  {
    name: 'burst',
    what: '500 concurrent clients on a healthy store: nobody is refused',
    on: first(everywhere),
    quick: ['memory'],
    clients: 500,
    async run ({ acknowledged }) {
      await acknowledged(3000)
    }
  }
]
