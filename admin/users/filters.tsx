import type { Capabilities, Fault, Json, Schema } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { focusHeading } from '../parts/dialog.tsx'
import { RadioField, SelectField } from '../parts/field.tsx'
import { isNarrow } from '../state/narrow.ts'
import { useSpeech } from '../state/texts.ts'
import {
  allBounds, type Bound, boundLabel, boundsOf, boundValue, LAST_DAYS, relativeBound, shownBound, typedBound
} from './bounds.ts'
import { allColumns } from './columns.tsx'
import { type ListState, sortable } from './query.ts'

/** More values than these are chosen from a list. */
const MOST_RADIOS = 6

function choiceText (choice: Json): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice)
}

interface FilterProps {
  name: string
  schema: Schema
  /** True if the search of the list looks into it. */
  isSearched: boolean
  value: string
  fault: string | undefined
  onValue: (value: string, isTyped: boolean) => void
}

/** The control of a field that is filtered by one value. */
function FilterField ({ name, schema, isSearched, value, fault, onValue }: FilterProps) {
  const { say } = useSpeech()
  const kind = kindOf(schema)
  const label = labelOf(name, schema)
  const any = ['', say('users.any')] as const
  const chosen = { label, value, fault, onValue: (value: string) => onValue(value, false) }
  switch (kind.is) {
    case 'choice': {
      const choices = kind.choices.map((choice) => [choiceText(choice), choiceText(choice)] as const)
      const Choice = choices.length > MOST_RADIOS ? SelectField : RadioField
      return <Choice {...chosen} options={[any, ...choices]} />
    }
    case 'flag': return (
      <RadioField {...chosen} options={[any, ['true', say('page.yes')], ['false', say('page.no')]]} />
    )
    default: return (
      <DebouncedField
        label={say('users.is', { field: label })}
        hint={say(isSearched ? 'users.isHelpSearched' : 'users.isHelp')}
        value={value}
        fault={fault}
        onValue={(value) => onValue(value, true)}
      />
    )
  }
}

interface FiltersProps {
  capabilities: Capabilities
  state: ListState
  /** What is wrong with what the list was asked for. */
  faults: readonly Fault[]
  onState: (state: ListState, isTyped: boolean) => void
}

/** What each kind of bound is typed in. */
const INPUTS = {
  number: { inputMode: 'decimal' }, date: { type: 'date' }, moment: { type: 'datetime-local' }, day: { type: 'date' }
} as const

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
  const { filterable, fields, searchable } = capabilities
  const labels = new Map(allColumns(capabilities, speech).map(({ key, label }) => [key, label]))
  const faultOf = (name: string): string | undefined => {
    const fault = faults.find(({ parameter }) => parameter === name)
    return fault && sayFault(fault)
  }
  const control = (bound: Bound) => (
    <DebouncedField
      key={bound.name}
      {...INPUTS[bound.is]}
      label={boundLabel(bound, capabilities, speech)}
      value={typedBound(bound, state.filters[bound.name] ?? '')}
      fault={faultOf(bound.name)}
      onValue={(typed) => onState(withFilter(state, bound.name, boundValue(bound, typed)), true)}
    />
  )
  const ofField = (name: string) => {
    const bounds = boundsOf(name, capabilities)
    return bounds.length > 0
      ? bounds.map(control)
      : (
        <FilterField
          key={name}
          name={name}
          schema={fields.properties[name] ?? {}}
          isSearched={searchable.includes(name)}
          value={state.filters[name] ?? ''}
          fault={faultOf(name)}
          onValue={(value, isTyped) => onState(withFilter(state, name, value), isTyped)}
        />
        )
  }
  return (
    <div class='filters'>
      <div class='grid'>
        {filterable.map(ofField)}
        <RadioField
          label={say('users.status')}
          value={state.filters['status'] ?? ''}
          fault={faultOf('status')}
          options={[['', say('users.any')], ['active', say('users.active')], ['suspended', say('users.suspended')]]}
          onValue={(status) => onState(withFilter(state, 'status', status), false)}
        />
        <RadioField
          label={say('users.createdAt')}
          value={state.filters['createdAt[gte]'] ?? ''}
          options={[
            ['', say('users.any')],
            ...LAST_DAYS.map((days) => [relativeBound(days), say('users.lastDays', { count: days })] as const)
          ]}
          onValue={(value) => onState(withFilter(state, 'createdAt[gte]', value), false)}
        />
        {boundsOf('createdAt', capabilities).map(control)}
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
      </div>
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
  const speech = useSpeech()
  const { say, sayFault } = speech
  const bounds = allBounds(capabilities)
  const { properties } = capabilities.fields
  const set = Object.entries(state.filters)
  if (set.length === 0) return null
  const remove = (next: ListState): void => {
    onState(next, false)
    focusHeading()
  }
  const labelFor = (name: string): string =>
    name === 'status' ? say('users.status') : labelOf(name, properties[name] ?? {})
  const shown = (name: string, value: string): string => {
    if (name === 'status') return say(value === 'suspended' ? 'users.suspended' : 'users.active')
    const isFlag = kindOf(properties[name] ?? {}).is === 'flag'
    return isFlag && (value === 'true' || value === 'false') ? say(value === 'true' ? 'page.yes' : 'page.no') : value
  }
  return (
    <ul class='chips'>
      {set.map(([name, value]) => {
        const bound = bounds.find((each) => each.name === name)
        const words = bound === undefined
          ? { field: labelFor(name), value: shown(name, value) }
          : { field: boundLabel(bound, capabilities, speech), value: shownBound(bound, value, speech) }
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
