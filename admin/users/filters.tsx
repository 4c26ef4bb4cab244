import { useEffect, useRef, useState } from 'preact/hooks'
import type { Capabilities, Fault, Json, Schema } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { SelectField, TextField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'
import type { ListState } from './query.ts'

const PAUSE_MS = 250

/** Text that is handed on when the person pauses. */
function DebouncedField ({ value, onValue, ...rest }: {
  label: string
  hint?: string
  fault?: string | undefined
  type?: 'search' | 'date'
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
  return <TextField {...rest} value={typed} onValue={setTyped} />
}

function choiceText (choice: Json): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice)
}

interface FilterProps {
  name: string
  schema: Schema
  value: string
  fault: string | undefined
  onValue: (value: string, isTyped: boolean) => void
}

/** The control of one filterable field. */
function FilterField ({ name, schema, value, fault, onValue }: FilterProps) {
  const { say } = useSpeech()
  const kind = kindOf(schema)
  const label = labelOf(name, schema)
  const any = ['', say('users.any')] as const
  const chosen = { label, value, fault, onValue: (value: string) => onValue(value, false) }
  const typed = { label, value, fault, onValue: (value: string) => onValue(value, true) }
  switch (kind.is) {
    case 'choice': {
      const choices = kind.choices.map((choice) => [choiceText(choice), choiceText(choice)] as const)
      return <SelectField {...chosen} options={[any, ...choices]} />
    }
    case 'flag': return (
      <SelectField {...chosen} options={[any, ['true', say('page.yes')], ['false', say('page.no')]]} />
    )
    case 'number': return <DebouncedField {...typed} inputMode='decimal' />
    case 'date': return <DebouncedField {...typed} type='date' />
    default: return <DebouncedField {...typed} />
  }
}

interface FiltersProps {
  capabilities: Capabilities
  state: ListState
  /** What is wrong with what the list was asked for. */
  faults: readonly Fault[]
  onState: (state: ListState, isTyped: boolean) => void
}

/** The search and the filters of the list. Each change begins with the first page. */
export function Filters ({ capabilities, state, faults, onState }: FiltersProps) {
  const { say, sayFault } = useSpeech()
  const { filterable, fields } = capabilities
  const withFilter = (name: string, value: string): ListState => {
    const { [name]: before, ...others } = state.filters
    return { ...state, filters: value === '' ? others : { ...others, [name]: value }, page: 1 }
  }
  const faultOf = (name: string): string | undefined => {
    const fault = faults.find(({ parameter }) => parameter === name)
    return fault && sayFault(fault)
  }
  return (
    <div class='filters' role='search'>
      <DebouncedField
        type='search'
        label={say('users.search')}
        hint={say('users.searchHelp')}
        value={state.q}
        fault={faultOf('q')}
        onValue={(q) => onState({ ...state, q, page: 1 }, true)}
      />
      {filterable.map((name) => (
        <FilterField
          key={name}
          name={name}
          schema={fields.properties[name] ?? {}}
          value={state.filters[name] ?? ''}
          fault={faultOf(name)}
          onValue={(value, isTyped) => onState(withFilter(name, value), isTyped)}
        />
      ))}
      <SelectField
        label={say('users.status')}
        value={state.filters['status'] ?? ''}
        fault={faultOf('status')}
        options={[['', say('users.any')], ['active', say('users.active')], ['suspended', say('users.suspended')]]}
        onValue={(status) => onState(withFilter('status', status), false)}
      />
      <SelectField
        label={say('users.sort')}
        value={state.sort}
        options={[['createdAt', say('users.sortOldest')], ['-createdAt', say('users.sortNewest')]]}
        onValue={(sort) => onState({ ...state, sort: sort === '-createdAt' ? sort : 'createdAt', page: 1 }, false)}
      />
    </div>
  )
}
