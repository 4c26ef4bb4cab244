import type { ImportResult, RefusedRow } from '../lib/transfer/import-run.ts'
import { lineOf } from './failure.ts'
import { printable } from './printable.ts'

/** Counts why rows were refused. */
export interface Refusals {
  add (result: ImportResult, name: string): void
  /** A line for each reason, the most frequent first: how many, why, and the first of them. */
  lines (): string[]
}

const EXAMPLES = 5
// What of an address is wrong differs from row to row.
const PLACE = /(?<=must be an e-mail address): .*$/s

/** Why a row was refused: its faults, or what the storage says of it. */
export function reasonsOf ({ problem: { errors, detail }, cause }: RefusedRow): string[] {
  return errors?.map(lineOf) ?? [cause instanceof Error ? cause.message : detail]
}

/** Groups refusals by their reasons. A row with two faults counts for each. */
export function createRefusals (): Refusals {
  const reasons = new Map<string, { count: number, examples: string[] }>()
  return {
    add (result, name) {
      if (result.status !== 'refused') return
      for (const each of reasonsOf(result)) {
        const reason = each.replace(PLACE, '')
        const known = reasons.get(reason) ?? { count: 0, examples: [] }
        known.count++
        if (known.examples.length < EXAMPLES) known.examples.push(name)
        reasons.set(reason, known)
      }
    },
    lines: () => [...reasons].sort(([, a], [, b]) => b.count - a.count).map(([reason, { count, examples }]) =>
      printable(`${count} × ${reason}: ${examples.join(', ')}${count > examples.length ? ', …' : ''}`))
  }
}
