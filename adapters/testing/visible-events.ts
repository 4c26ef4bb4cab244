import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { eventOf, readEvents } from './event-values.ts'
import { addUsers, anyVersion, idOf, rename, timeOf } from './values.ts'
import { whileWriting } from './while-writing.ts'

const ROUNDS = 30
const PAGE = 1000

/** Duties of stores with an event log: what others see while changes are recorded. */
export const visibleEventCases: Cases = {
  'eventLog.read, findUser: a change and its event become visible in one step': async (storage) => {
    const numbers = [1, 2, 3]
    await addUsers(storage, ...numbers)
    const seen = new Map<string, number>()
    let after: string | null = null
    const readOn = async () => {
      // Writers may be faster than one page for each look.
      for (let length = PAGE; length === PAGE;) {
        const events = await readEvents(storage, { after, limit: PAGE })
        for (const { subject, data } of events) seen.set(subject, Number(data['version']))
        after = events.at(-1)?.id ?? after
        length = events.length
      }
    }
    const versionOf = async (n: number) => Number((await storage.findUser(idOf('usr', n)))?.version)
    await whileWriting(async (n, writer) => {
      const id = idOf('usr', writer)
      await storage.updateUser(id, rename(`Name ${n}`), timeOf(900), anyVersion, eventOf(n, 'user.updated'))
    }, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const versions = await Promise.all(numbers.map(versionOf))
        await readOn()
        for (const [i, n] of numbers.entries()) {
          const recorded = seen.get(idOf('usr', n)) ?? 1
          assert.ok(recorded >= Number(versions[i]), 'a change that can be read has its event in the log')
        }
        const later = await Promise.all(numbers.map(versionOf))
        for (const [i, n] of numbers.entries()) {
          const recorded = seen.get(idOf('usr', n)) ?? 1
          assert.ok(Number(later[i]) >= recorded, 'an event that can be read has its change in the user')
        }
      }
    })
  }
}
