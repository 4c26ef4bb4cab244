import type { Cases, Context } from './cases.ts'
import { historyCases } from './histories.ts'
import { recordingStorage } from './recording-storage.ts'
import type { KitStorage } from './kit-storage.ts'

/** Runs with a store that is given an event with every write, and checks its log afterwards. */
async function recorded<Result> (storage: KitStorage, run: (storage: KitStorage) => Promise<Result>): Promise<Result> {
  const { storage: recording, requireRecorded } = recordingStorage(storage)
  const result = await run(recording)
  await requireRecorded()
  return result
}

/**
 * The duties of each subject once more, with an event for every write: they hold, and every change has its one event.
 * Each runs on a store of its own.
 */
export function recordedCases (subjects: Record<string, Cases>): Cases {
  return Object.fromEntries(Object.entries(subjects).map(([subject, cases]) => [
    `eventLog: with an event for every write the duties about ${subject} hold, and each change is recorded once`,
    async (_storage: KitStorage, context: Context) => {
      const withStore: Context['withStore'] = (run) => context.withStore((own) => recorded(own, run))
      for (const [title, run] of Object.entries(cases)) {
        try {
          // Histories make stores of their own.
          const isOwn = cases === historyCases
          await context.withStore((own) => isOwn
            ? run(own, { ...context, withStore })
            : recorded(own, (storage) => run(storage, { ...context, withStore })))
        } catch (error) {
          if (error instanceof Error) error.message = `with events, "${title}": ${error.message}`
          throw error
        }
      }
    }
  ]))
}
