import { useState } from 'preact/hooks'
import { save } from '../parts/save.ts'
import { useSpeech } from '../state/texts.ts'
import type { Imported } from './import.ts'
import { recordsOf, textOf } from './table-file.ts'

interface RefusedProps {
  file: File
  isTable: boolean
  refused: Imported['refused']
  wordsOf: (error: unknown) => string
}

// As many lines of a fault are named.
const LINES = 10

/** The refused lines of a file by what is wrong with them, and as a file to mend. */
export function Refused ({ file, isTable, refused, wordsOf }: RefusedProps) {
  const { say, number } = useSpeech()
  const [isBusy, setBusy] = useState(false)
  const groups = new Map<string, number[]>()
  for (const { line, error } of refused) {
    const words = wordsOf(error)
    const lines = groups.get(words)
    if (lines === undefined) groups.set(words, [line])
    else lines.push(line)
  }
  async function saveThem (): Promise<void> {
    setBusy(true)
    const wanted = new Set(refused.map(({ line }) => line))
    const found: string[] = []
    for (const { line, text } of recordsOf(await textOf(file), isTable)) {
      // The header, and a line before it that names the separator.
      const isHeader = isTable && (line === 1 || (line === 2 && /^sep=/i.test(found[0] ?? '')))
      if (isHeader || wanted.has(line)) found.push(text)
    }
    save(new Blob([`${found.join('\n')}\n`], { type: file.type }), `refused-${file.name}`)
    setBusy(false)
  }
  return (
    <>
      <h3>{say('bulk.refused')}</h3>
      <ul class='refused'>
        {[...groups].map(([words, lines]) => (
          <li key={words}>
            <bdi>{words}</bdi>{' '}
            <span class='muted'>
              {say('import.lines', { count: lines.length, lines: lines.slice(0, LINES).map(number).join(', ') })}
              {lines.length > LINES && ' …'}
            </span>
          </li>
        ))}
      </ul>
      <p><button type='button' disabled={isBusy} onClick={() => { saveThem() }}>{say('import.saveRefused')}</button></p>
    </>
  )
}
