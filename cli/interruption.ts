import type { SourceRow, SourceRows } from '../lib/transfer/source-row.ts'

/** A source of rows that stops on Ctrl+C or SIGTERM. */
export interface Interruption {
  rows: SourceRows
  /** True if rows were left out. */
  isCut: () => boolean
  /** Gives the signals back to the process. */
  close: () => void
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Ends rows at Ctrl+C or SIGTERM, so that what was read can be settled, and its numbers shown. A second signal ends the
 * process.
 */
export function untilInterrupted (rows: SourceRows): Interruption {
  let isInterrupted = false
  let isCut = false
  // Replaced for each part: a promise that stays would keep every part in memory.
  let cut = (): void => {}

  function close (): void {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }

  function interrupt (): void {
    isInterrupted = true
    close()
    cut()
  }

  async function * untilCut (): AsyncGenerator<SourceRow[], void, undefined> {
    const parts = rows[Symbol.asyncIterator]()
    try {
      while (true) {
        const part = await new Promise<IteratorResult<SourceRow[]> | null>((resolve, reject) => {
          cut = () => resolve(null)
          if (isInterrupted) cut()
          else parts.next().then(resolve, reject)
        })
        isCut = part === null
        if (part === null || part.done === true) return
        yield part.value
      }
    } finally {
      // Not awaited after an interruption: what was asked for may never come.
      const ended = parts.return?.()
      if (isCut) ended?.catch(() => {})
      else await ended
    }
  }

  for (const signal of SIGNALS) process.on(signal, interrupt)
  return { rows: untilCut(), isCut: () => isCut, close }
}
