// Two instances on one store, keys that end in three ways, and uses of them, in every order that a scheduler finds: nobody is let in with a key that has ended for
// the instance that is asked. Ended is: answered, in the instance that ended it; told, in the other; by the clock, in both.
import fc from 'fast-check'
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { keyReader } from '../lib/api-keys/key-text.ts'
import { createApiKeysService } from '../lib/api-keys/service.ts'
import { createVerifier } from '../lib/api-keys/verifier.ts'
import type { Storage } from '../lib/index.ts'

const START = Date.UTC(2026, 0)
const [REVOKED, ROTATED, EXPIRING] = [0, 1, 2]
const RUNS = Number(process.env['INTERLEAVINGS'] ?? 500)

test('no interleaving lets a key in that has ended', async (t) => {
  let [accepted, refused] = [0, 0]
  const use = fc.record({ on: fc.constantFrom(0, 1), key: fc.constantFrom(REVOKED, ROTATED, EXPIRING) })
  await fc.assert(fc.asyncProperty(fc.scheduler(), fc.array(use, { minLength: 6, maxLength: 20 }), async (scheduler, uses) => {
    const turn = (what: string) => scheduler.schedule(Promise.resolve(), what)
    const base = memory()
    const listeners = new Set<() => void>()
    const instances = [0, 1].map((n) => {
      // A store of its own, as another process has it, that is asked and answers when the scheduler says so.
      const storage: Storage = {
        ...base,
        findApiKeyByStart: async (start) => {
          await turn(`${n} asks`)
          const found = await base.findApiKeyByStart(start)
          await turn(`${n} is answered`)
          return found
        },
        revokeApiKey: async (...given) => {
          await turn('revocation begins')
          const done = await base.revokeApiKey(...given)
          await turn('revocation is done')
          return done
        },
        rotateApiKey: async (...given) => {
          await turn('rotation begins')
          const done = await base.rotateApiKey(...given)
          await turn('rotation is done')
          return done
        },
        watchApiKeys: (listener) => {
          listeners.add(listener)
          return () => { listeners.delete(listener) }
        }
      }
      const verifier = createVerifier({ storage, peppers: [], keyCache: 3600 })
      const service = createApiKeysService({ storage, verifier, pageSize: { default: 1, max: 1 }, keyPrefix: 'uk', pepper: undefined, publish: () => {} })
      return { verifier, service, ended: new Set<number>() }
    })
    const [own, other] = instances
    if (own === undefined || other === undefined) return false
    mock.timers.enable({ apis: ['Date'], now: START })
    try {
      const made = await Promise.all([60, 60, 30].map((expiresIn) => own.service.create({ name: 'x', expiresIn })))
      const read = keyReader('uk')
      const wrong: string[] = []
      const tell = async (key: number): Promise<void> => {
        own.ended.add(key)
        await turn('the other hears of it')
        for (const listener of listeners) listener()
        other.ended.add(key)
      }
      const idOf = (key: number): string => String(made[key]?.id)
      const ends = [
        async () => { await own.service.revoke(idOf(REVOKED)); await tell(REVOKED) },
        async () => { await own.service.rotate(idOf(ROTATED), { overlap: 0 }); await tell(ROTATED) },
        async () => {
          await turn('time passes')
          mock.timers.setTime(START + 30_000)
          own.ended.add(EXPIRING)
          other.ended.add(EXPIRING)
        }
      ]
      const attempts = uses.map(({ on, key }) => async () => {
        await turn('a use')
        const parts = read(String(made[key]?.key))
        const instance = instances[on]
        if (parts === null || parts === 'malformed' || instance === undefined) throw new Error('no key')
        const over = instance.ended.has(key)
        const found = await instance.verifier.verify(parts)
        if (found === null) refused++
        else accepted++
        if (over && found !== null) wrong.push(`${on} let in ${key}`)
      })
      await scheduler.waitFor(Promise.all([...ends, ...attempts].map((each) => each())))
      return wrong.length === 0
    } finally {
      mock.timers.reset()
    }
  }), { numRuns: RUNS })
  // Neither all nor none: the interleavings reach both sides of the end.
  t.ok(accepted > RUNS && refused > RUNS, `${RUNS} interleavings, ${accepted} uses let in, ${refused} refused`)
})
