import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Answer, asAnswered, asShown, idsIn, normalised } from './answers.ts'
import { at, type Block, type Page, replaceBlocks, ROOT } from './pages.ts'
import type { Sandbox } from './sandbox.ts'
import { createShell } from './shell.ts'
import { runSql } from './sql.ts'

const DIAGRAM = /^(?:flowchart|sequenceDiagram|stateDiagram-v2|erDiagram|classDiagram|timeline)\b/

/** Whether a block shows the answer to the `curl` in the one before it: `http`, or `json` right behind it. */
function isAnswer ({ language, isAdjacent }: Block, before: Block | undefined): boolean {
  const mayBe = language === 'http' || (language === 'json' && isAdjacent)
  return mayBe && before?.language === 'sh' && /\bcurl\b/.test(before.text)
}

function firstDifference (answered: string, shown: string): string {
  const [is, shows] = [answered.split('\n'), shown.split('\n')]
  const line = is.findIndex((text, i) => text !== shows[i])
  const place = line === -1 ? is.length : line
  const quoted = (text: string | undefined): string => text === undefined ? 'nothing more' : `\`${text.trim()}\``
  return `the answer has ${quoted(is[place])} where the page shows ${quoted(shows[place])}`
}

/**
 * Compares shown answers with real ones. `known`: the real ids and keys by those that the page shows instead.
 * `updates`: blocks to be written anew; null where they are not.
 */
function createComparison (known: Map<string, string>, updates: Map<Block, string> | null) {
  /** @throws Error that says what differs */
  return function compare (block: Block, answer: Answer): void {
    const [shown, answered] = [asShown(block), asAnswered(block, answer)]
    const isSame = normalised(shown) === normalised(answered)
    if (!isSame && updates === null) throw new Error(firstDifference(normalised(answered), normalised(shown)))
    const [shownIds, ids] = [idsIn(shown), idsIn(answered)]
    // Each id that is shown stands for one real one on the whole page.
    if (shownIds.length === ids.length) {
      for (const [i, id] of shownIds.entries()) {
        if ((known.get(id) ?? ids[i]) !== ids[i]) throw new Error(`${id} stands for another user or key before`)
        known.set(id, ids[i] ?? '')
      }
    }
    if (!isSame) updates?.set(block, [...known].reduce((text, [id, real]) => text.replaceAll(real, id), answered))
  }
}

/**
 * Runs the commands and the SQL of a page, from its top to its end, and gives what is wrong, each with its line.
 * `update`: answers that differ are written into the page.
 */
export async function checkPage (page: Page, sandbox: Sandbox, { update }: { update: boolean }): Promise<string[]> {
  const known = new Map<string, string>()
  const updates = update ? new Map<Block, string>() : null
  const runShell = createShell(sandbox, known)
  const compare = createComparison(known, updates)

  async function checkShell (block: Block, next: Block | undefined): Promise<void> {
    const { requests, answer } = await runShell(block)
    if (next !== undefined && isAnswer(next, block)) {
      if (requests !== 1 || answer === null) throw new Error(`one answer is shown, and ${requests} requests were sent`)
      compare(next, answer)
    } else if (answer !== null && answer.status >= 400) {
      throw new Error(`answered ${answer.statusLine}, and the page does not show that: ${answer.body}`)
    }
  }

  async function check (block: Block, before: Block | undefined, next: Block | undefined): Promise<void> {
    const { language, kind, text } = block
    if (language === 'sh' && !kind.startsWith('operator')) await checkShell(block, next)
    if (language === 'sql') await runSql(kind, text, sandbox)
    if (language === 'http' && !isAnswer(block, before)) throw new Error('no curl stands before this answer')
    if (language === 'json' && !isAnswer(block, before)) JSON.parse(text)
    if (language === 'mermaid' && !DIAGRAM.test(text)) throw new Error('this is no diagram of a known kind')
  }

  const faults: string[] = []
  for (const [i, block] of page.blocks.entries()) {
    try {
      await check(block, page.blocks[i - 1], page.blocks[i + 1])
    } catch (error) {
      faults.push(`${at(block)}: ${normalised(Object(error).message)}`)
    }
  }
  if (updates !== null && updates.size > 0) await writeFile(join(ROOT, page.path), replaceBlocks(page, updates))
  return faults
}
