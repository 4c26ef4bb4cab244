import { useEffect, useRef, useState } from 'preact/hooks'
import type { Capabilities, Json, Schema } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { SelectField, TextField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'
import type { ListState } from './query.ts'

const PAUSE_MS = 250

/** Text that is handed on when the person pauses. */
function DebouncedField ({ label, hint, value, onValue, ...rest }: {
  label: string
  hint?: string
  type?: 'search'
  inputMode?: 'decimal'
  value: string
  onValue: (value: string) => void
}) {
  const [typed, setTyped] = useState(value)
  const handed = useRef(value)
  const latest = useRef(onValue)
  latest.current = onValue
  // The address has changed by other means, such as the button Back.
  useEffect(() => {
    if (value === handed.current) return
    handed.current = value
    setTyped(value)
  }, [value])
  useEffect(() => {
    if (typed === handed.current) return
    const timer = setTimeout(() => {
      handed.current = typed
      latest.current(typed)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return <TextField {...rest} label={label} hint={hint} value={typed} onValue={setTyped} />
}

function choiceText (choice: Json): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice)
}

interface FilterProps {
  name: string
  schema: Schema
  value: string
  onValue: (value: string) => void
}

/** The control of one filterable field. */
function FilterField ({ name, schema, value, onValue }: FilterProps) {
  const { say } = useSpeech()
  const kind = kindOf(schema)
  const label = labelOf(name, schema)
  const any = ['', say('users.any')] as const
  switch (kind.is) {
    case 'choice': {
      const choices = kind.choices.map((choice) => [choiceText(choice), choiceText(choice)] as const)
      return <SelectField label={label} value={value} options={[any, ...choices]} onValue={onValue} />
    }
    case 'flag': return (
      <SelectField
        label={label}
        value={value}
        options={[any, ['true', say('page.yes')], ['false', say('page.no')]]}
        onValue={onValue}
      />
    )
    case 'number': return <DebouncedField label={label} inputMode='decimal' value={value} onValue={onValue} />
    case 'date': return <TextField type='date' label={label} value={value} onValue={onValue} />
    default: return <DebouncedField label={label} value={value} onValue={onValue} />
  }
}

interface FiltersProps {
  capabilities: Capabilities
  state: ListState
  onState: (state: ListState) => void
}

/** The search and the filters of the list. Each change begins with the first page. */
export function Filters ({ capabilities, state, onState }: FiltersProps) {
  const { say } = useSpeech()
  const { filterable, fields } = capabilities
  return (
    <div class='filters' role='search'>
      <DebouncedField
        type='search'
        label={say('users.search')}
        hint={say('users.searchHelp')}
        value={state.q}
        onValue={(q) => onState({ ...state, q, page: 1 })}
      />
      {filterable.map((name) => (
        <FilterField
          key={name}
          name={name}
          schema={fields.properties[name] ?? {}}
          value={state.filters[name] ?? ''}
          onValue={(value) => {
            const { [name]: before, ...others } = state.filters
            onState({ ...state, filters: value === '' ? others : { ...others, [name]: value }, page: 1 })
          }}
        />
      ))}
      <SelectField
        label={say('users.sort')}
        value={state.sort}
        options={[['createdAt', say('users.sortOldest')], ['-createdAt', say('users.sortNewest')]]}
        onValue={(sort) => onState({ ...state, sort: sort === '-createdAt' ? sort : 'createdAt', page: 1 })}
      />
    </div>
  )
}
