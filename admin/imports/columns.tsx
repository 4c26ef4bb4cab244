import { SelectField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'
import { isMappable, type Mapping, nameParts } from './mapping.ts'

interface ColumnsProps {
  columns: readonly string[]
  /** The first rows of the table. */
  rows: ReadonlyArray<readonly string[]>
  mapping: Mapping
  /** True if the mapping is to be looked at. */
  isOpen: boolean
  /** What people call the members. */
  labels: Readonly<Record<string, string>>
  onMapping: (mapping: Mapping) => void
}

// No column has it in its name.
const AND = '\n'

/** Which column of a table each member of a user comes from. */
export function Columns ({ columns, rows, mapping, isOpen, labels, onMapping }: ColumnsProps) {
  const { say } = useSpeech()
  const usable = columns.filter(isMappable)
  const parts = nameParts(usable)
  const sampleOf = (from: readonly string[]): string => rows
    .map((row) => from.map((column) => row[columns.indexOf(column)] ?? '').join(' ').trim())
    .filter((text) => text !== '').join(' · ')
  return (
    <details open={isOpen}>
      <summary>{say('import.columns')}</summary>
      <fieldset class='grid'>
        <legend class='visually-hidden'>{say('import.columns')}</legend>
        {Object.entries(mapping).map(([member, from]) => (
          <SelectField
            key={member}
            hint={sampleOf(from)}
            label={labels[member] ?? member}
            isRequired={member === 'name' || member === 'email'}
            value={from.join(AND)}
            options={[
              ['', say('import.noColumn')],
              ...usable.map((column) => [column, column] as const),
              ...member === 'name' && parts !== null ? [[parts.join(AND), parts.join(' + ')] as const] : []
            ]}
            onValue={(value) => onMapping({ ...mapping, [member]: value === '' ? [] : value.split(AND) })}
          />
        ))}
      </fieldset>
    </details>
  )
}
