import { SelectField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'
import { isMappable, type Mapping, nameParts } from './mapping.ts'

interface ColumnsProps {
  columns: readonly string[]
  mapping: Mapping
  /** What people call the members. */
  labels: Readonly<Record<string, string>>
  onMapping: (mapping: Mapping) => void
}

// No column has it in its name.
const AND = '\n'

/** Which column of a table each member of a user comes from. */
export function Columns ({ columns, mapping, labels, onMapping }: ColumnsProps) {
  const { say } = useSpeech()
  const usable = columns.filter(isMappable)
  const parts = nameParts(usable)
  return (
    <fieldset class='grid'>
      <legend class='visually-hidden'>{say('import.columns')}</legend>
      {Object.entries(mapping).map(([member, from]) => (
        <SelectField
          key={member}
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
  )
}
