import assert from 'node:assert/strict'
import { processCases } from './process-cases.ts'
import { startProcess, type StorageProcess } from './storage-process.ts'

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
 * Registers the duties that one process can't show, each with processes of its own: races and changes across processes,
 * and a process that is killed between writes. For stores that keep what was written when their process ends.
 */
export function testStorageInProcesses (options: TestStorageInProcessesOptions): void {
  const { test, open, place: makePlace, destroy = async () => {}, execArgv = process.execArgv } = options
  for (const [title, run] of Object.entries(processCases)) {
    test(`processes: ${title}`, async () => {
      const place = await makePlace()
      const started: StorageProcess[] = []
      const start = async () => {
        const one = await startProcess(String(open), place, execArgv)
        started.push(one)
        return one
      }
      try {
        await run(start)
        await Promise.all(started.filter((each) => each.isRunning()).map((each) => each.storage.close()))
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        throw new assert.AssertionError({ message: `in several processes: ${String(error)}` })
      } finally {
        await Promise.all(started.map((each) => each.kill()))
        await destroy(place)
      }
    })
  }
}
