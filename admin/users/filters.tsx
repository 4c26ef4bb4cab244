import type { Capabilities, Fault, Json, Schema } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { fromLocal, toLocal } from '../form/moments.ts'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { focusHeading } from '../parts/dialog.tsx'
import { RadioField, SelectField } from '../parts/field.tsx'
import { isNarrow } from '../state/narrow.ts'
import { useSpeech } from '../state/texts.ts'
import { allColumns } from './columns.tsx'
import { BOUNDS, type ListState, sortable } from './query.ts'

const BOUND_LABELS = { 'createdAt[gte]': 'users.createdFrom', 'createdAt[lt]': 'users.createdBefore' } as const
/** More values than these are chosen from a list. */
const MOST_RADIOS = 6
const isBound = (name: string): name is keyof typeof BOUND_LABELS => Object.hasOwn(BOUND_LABELS, name)

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
      const Choice = choices.length > MOST_RADIOS ? SelectField : RadioField
      return <Choice {...chosen} options={[any, ...choices]} />
    }
    case 'flag': return (
      <RadioField {...chosen} options={[any, ['true', say('page.yes')], ['false', say('page.no')]]} />
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

/** The day of a moment, for an input; and the moment at which a day begins, here. */
const dayOf = (moment: string | undefined): string => toLocal(moment ?? '').slice(0, 10)
const momentOf = (day: string): string => day === '' ? '' : fromLocal(`${day}T00:00`)

/** Closes the menu that a button is in. */
function closeMenu (button: Element): void {
  const menu = button.closest('details')
  if (menu === null) return
  menu.open = false
  menu.querySelector('summary')?.focus()
}

/** The state with a filter set, or without it where the value is empty. It begins with the first page. */
export function withFilter (state: ListState, name: string, value: string): ListState {
  const { [name]: before, ...others } = state.filters
  return { ...state, filters: value === '' ? others : { ...others, [name]: value }, page: 1 }
}

/** The filters of the list, the host's own first, and its order. `total`: how many users match; null: not known yet. */
export function Filters ({ capabilities, state, faults, total, onState }: FiltersProps & { total: number | null }) {
  const speech = useSpeech()
  const { say, sayFault } = speech
  const { filterable, fields } = capabilities
  const labels = new Map(allColumns(capabilities, speech).map(({ key, label }) => [key, label]))
  const faultOf = (name: string): string | undefined => {
    const fault = faults.find(({ parameter }) => parameter === name)
    return fault && sayFault(fault)
  }
  return (
    <div class='filters grid'>
      {filterable.map((name) => (
        <FilterField
          key={name}
          name={name}
          schema={fields.properties[name] ?? {}}
          value={state.filters[name] ?? ''}
          fault={faultOf(name)}
          onValue={(value, isTyped) => onState(withFilter(state, name, value), isTyped)}
        />
      ))}
      <RadioField
        label={say('users.status')}
        value={state.filters['status'] ?? ''}
        fault={faultOf('status')}
        options={[['', say('users.any')], ['active', say('users.active')], ['suspended', say('users.suspended')]]}
        onValue={(status) => onState(withFilter(state, 'status', status), false)}
      />
      {BOUNDS.map((name) => (
        <DebouncedField
          key={name}
          type='date'
          label={say(BOUND_LABELS[name])}
          value={dayOf(state.filters[name])}
          fault={faultOf(name)}
          onValue={(day) => onState(withFilter(state, name, momentOf(day)), true)}
        />
      ))}
      <SelectField
        label={say('users.sort')}
        value={state.sort}
        options={sortable(capabilities).flatMap((name): Array<[string, string]> => {
          const label = labels.get(name) ?? name
          return name === 'createdAt'
            ? [['createdAt', say('users.sortOldest')], ['-createdAt', say('users.sortNewest')]]
            : [[name, `${label} ↑`], [`-${name}`, `${label} ↓`]]
        })}
        onValue={(sort) => onState({ ...state, sort, page: 1 }, false)}
      />
      {isNarrow() && (
        <button type='button' class='primary done' onClick={({ currentTarget }) => closeMenu(currentTarget)}>
          {total === null ? say('page.close') : say('users.show', { count: total })}
        </button>
      )}
    </div>
  )
}

/** The filters that are set, each with a button that removes it. */
export function Chips ({ capabilities, state, faults, onState }: FiltersProps) {
  const { say, sayFault, time, day } = useSpeech()
  const { properties } = capabilities.fields
  const set = Object.entries(state.filters)
  if (set.length === 0) return null
  const remove = (next: ListState): void => {
    onState(next, false)
    focusHeading()
  }
  const shown = (name: string, value: string): string => {
    if (name === 'status') return say(value === 'suspended' ? 'users.suspended' : 'users.active')
    if (isBound(name)) return momentOf(dayOf(value)) === value ? day(value) : time(value)
    const isFlag = kindOf(properties[name] ?? {}).is === 'flag'
    return isFlag && (value === 'true' || value === 'false') ? say(value === 'true' ? 'page.yes' : 'page.no') : value
  }
  return (
    <ul class='chips'>
      {set.map(([name, value]) => {
        const field = name === 'status'
          ? say('users.status')
          : isBound(name) ? say(BOUND_LABELS[name]) : labelOf(name, properties[name] ?? {})
        const words = { field, value: shown(name, value) }
        const fault = faults.find(({ parameter }) => parameter === name)
        return (
          <li key={name}>
            <button
              type='button'
              class={fault === undefined ? 'chip' : 'chip wrong'}
              aria-label={say('users.removeFilter', words)}
              onClick={() => remove(withFilter(state, name, ''))}
            >
              <bdi>{say('users.filter', words)}</bdi><span aria-hidden='true'>×</span>
            </button>
            {fault !== undefined && <span class='fault'> {sayFault(fault)}</span>}
          </li>
        )
      })}
      {set.length > 1 && (
        <li>
          <button type='button' class='plain' onClick={() => remove({ ...state, filters: {}, page: 1 })}>
            {say('users.clearFilters')}
          </button>
        </li>
      )}
    </ul>
  )
}
