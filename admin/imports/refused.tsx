import { Alert, useAction } from '../parts/feedback.tsx'
import { save } from '../parts/save.ts'
import { useLoad } from '../state/load.ts'
import { useSpeech } from '../state/texts.ts'
import type { Imported } from './import.ts'
import { withMember } from './json-lines.ts'
import { namesOf, recordsOf, type Table, textOf, withCell } from './table-file.ts'

interface RefusedProps {
  file: File
  /** How the file is divided; null: each line is JSON. */
  table: Table | null
  /** The columns that names come from. */
  from: readonly string[]
  refused: Imported['refused']
  wordsOf: (error: unknown) => string
}

// As many lines of a fault are named.
const LINES = 10
// Of a longer file the lines are not called after whom they are about.
const LONGEST = 16 * 1024 * 1024

/** The refused lines of a file by what is wrong with them, and as a file to mend. */
export function Refused ({ file, table, from, refused, wordsOf }: RefusedProps) {
  const { say, number } = useSpeech()
  const { error, isBusy, run } = useAction()
  const groups = new Map<string, number[]>()
  for (const { line, error } of refused) {
    const words = wordsOf(error)
    const lines = groups.get(words)
    if (lines === undefined) groups.set(words, [line])
    else lines.push(line)
  }
  const named = new Set([...groups.values()].flatMap((lines) => lines.slice(0, LINES)))
  const names = useLoad([...named].join(), async () =>
    file.size > LONGEST ? null : namesOf(await textOf(file), named, table, from)).value
  const lineOf = (line: number): string => {
    const name = names?.get(line)
    return name === undefined ? number(line) : `${number(line)} (\u2068${name}\u2069)`
  }
  async function saveThem (): Promise<void> {
    const reasons = new Map(refused.map(({ line, error }) => [line, wordsOf(error)]))
    const heading = say('import.reason')
    const isReplaced = table?.columns[table.columns.length - 1] === heading
    const found: string[] = []
    for (const { line, text } of recordsOf(await textOf(file), table !== null)) {
      const isFirst = line === 1 || (line === 2 && /^sep=/i.test(found[0] ?? ''))
      const added = table !== null && isFirst && !/^sep=/i.test(text) ? heading : reasons.get(line)
      if (table === null && added !== undefined) found.push(withMember(text, heading, added))
      else if (table !== null && added !== undefined) found.push(withCell(text, table, added, isReplaced))
      else if (table !== null && isFirst) found.push(text)
    }
    save(new Blob([`${found.join('\n')}\n`], { type: file.type }), `refused-${file.name}`)
  }
  return (
    <>
      <h3>{say('bulk.refused')}</h3>
      <ul class='refused'>
        {[...groups].map(([words, lines]) => (
          <li key={words}>
            {say('import.lines', {
              count: lines.length,
              lines: lines.slice(0, LINES).map(lineOf).join(', ') + (lines.length > LINES ? ' …' : '')
            })}
            : <bdi>{words}</bdi>
          </li>
        ))}
      </ul>
      <Alert error={error} />
      <p><button type='button' disabled={isBusy} onClick={() => run(saveThem)}>{say('import.saveRefused')}</button></p>
    </>
  )
}
