import { useRef, useState } from 'preact/hooks'
import { SelectField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'

// The encodings that files in none of Unicode's usually have: older spreadsheets write those of their language.
const ENCODINGS = [
  ['windows-1252', 'Windows-1252, Latin-1'], ['windows-1250', 'Windows-1250'], ['windows-1251', 'Windows-1251'],
  ['windows-1253', 'Windows-1253'], ['windows-1254', 'Windows-1254'], ['macintosh', 'Macintosh']
] as const

async function * decoded (file: Blob, decoder: TextDecoder): AsyncGenerator<string> {
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    yield decoder.decode(value, { stream: !done })
    if (done) return
  }
}

/** True of a file in UTF-8, or in UTF-16 with its byte order mark. */
export async function isUnicode (file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true
  const parts = decoded(file, new TextDecoder('utf-8', { fatal: true }))
  try {
    while ((await parts.next()).done !== true);
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** The same file in UTF-8. */
async function toUtf8 (file: File, encoding: string): Promise<File> {
  const parts: string[] = []
  for await (const part of decoded(file, new TextDecoder(encoding))) parts.push(part)
  return new File(parts, file.name, { type: file.type })
}

/** The first words of a file that have a letter beyond ASCII. */
function lettersOf (text: string): string {
  return [...new Set(text.match(/[\p{L}\p{M}]*[^\p{ASCII}][\p{L}\p{M}]*/gu))].slice(0, 5).join(', ')
}

interface EncodingFieldProps {
  /** A file that is in no encoding of Unicode. */
  file: File
  /** Called with the file in UTF-8 and its text; null: while its encoding is not known. */
  onFile: (file: File | null, text: string) => void
}

/** Asks for the encoding of a file, and shows what its letters become. */
export function EncodingField ({ file, onFile }: EncodingFieldProps) {
  const { say } = useSpeech()
  const [read, setRead] = useState({ encoding: '', letters: '' })
  const latest = useRef('')
  async function choose (encoding: string): Promise<void> {
    latest.current = encoding
    setRead({ encoding, letters: '' })
    onFile(null, '')
    if (encoding === '') return
    const converted = await toUtf8(file, encoding)
    const text = await converted.text()
    if (latest.current !== encoding) return
    setRead({ encoding, letters: lettersOf(text) })
    onFile(converted, text)
  }
  return (
    <SelectField
      label={say('import.encoding')}
      hint={read.letters === ''
        ? say('import.encodingHelp')
        : say('import.encodingShows', { text: `\u2068${read.letters}\u2069` })}
      isRequired
      value={read.encoding}
      options={[['', say('page.notSet')], ...ENCODINGS]}
      onValue={(encoding) => { choose(encoding) }}
    />
  )
}
