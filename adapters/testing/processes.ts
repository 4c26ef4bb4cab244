import assert from 'node:assert/strict'
import { crashCases } from './crash-cases.ts'
import { processCases } from './process-cases.ts'
import { type Opener, startOpener, type StorageProcess } from './storage-process.ts'

export interface TestStorageInProcessesOptions {
  /** The test function of your runner, as for `testStorage`. */
  test: (name: string, run: () => Promise<void>) => unknown
  /** URL of a module whose default export, `(place: string) => Storage`, opens the store at a place. */
  open: URL | string
  /** Makes an empty place that several processes can open: the name of a file, the address of a database. */
  place: () => string | Promise<string>
  /** Removes a place, when no process has it open any more. */
  destroy?: (place: string) => Promise<unknown>
  /** Arguments of Node.js for the processes. Default: those of this one. */
  execArgv?: readonly string[]
}

/**
 * Registers the duties that one process can't show, each on a place of its own: races and changes across processes, and
 * a process that is killed between writes. For stores that keep what was written when their process ends.
 */
export function testStorageInProcesses (options: TestStorageInProcessesOptions): void {
  const { test, open, place: makePlace, destroy = async () => {}, execArgv = process.execArgv } = options
  // Starting a process takes longer than most duties, so those that were not killed open the next place.
  const resting: Opener[] = []
  const titles = Object.entries({ ...processCases, ...crashCases })
  let left = titles.length
  for (const [title, run] of titles) {
    test(`processes: ${title}`, async () => {
      const place = await makePlace()
      const started = new Map<Opener, StorageProcess | null>()
      const start = async () => {
        const opener = resting.pop() ?? startOpener(String(open), execArgv)
        started.set(opener, null)
        const opened = await opener.open(place)
        started.set(opener, opened)
        return opened
      }
      try {
        await run(start)
        for (const [opener, opened] of started) {
          if (!opener.isRunning()) continue
          await opened?.storage.close()
          started.delete(opener)
          opener.rest()
          resting.push(opener)
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        throw new assert.AssertionError({ message: `in several processes: ${String(error)}` })
      } finally {
        await Promise.all([...started.keys()].map((opener) => opener.kill()))
        if (--left === 0) await Promise.all(resting.splice(0).map((each) => each.end()))
        await destroy(place)
      }
    })
  }
}
