import { useState } from 'preact/hooks'
import { ClientError } from '../../client/error.ts'
import type { LoggedEvent } from '../api/types.ts'
import { fromLocal, toLocal } from '../form/moments.ts'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { SelectField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'
import { type Role, Who } from './who.tsx'

const NAMES = ['type', 'subject', 'actor', 'since', 'until'] as const
/** The types to choose from. */
export const TYPES = [
  'user.*', 'user.created', 'user.updated', 'user.suspended', 'user.activated', 'user.deleted', 'user.restored',
  'user.purged', 'api_key.*', 'group.*', 'webhook.*'
]

/** What the log is narrowed by, as the API names it. */
export type EventQuery = Readonly<Partial<Record<typeof NAMES[number], string>>>

/** The narrowing that an address asks for. */
export function readEventQuery (query: URLSearchParams): EventQuery {
  return Object.fromEntries(NAMES.flatMap((name) => {
    const value = query.get(name)?.trim() ?? ''
    return value === '' ? [] : [[name, value]]
  }))
}

export function writeEventQuery (query: EventQuery): URLSearchParams {
  return new URLSearchParams(Object.entries(query))
}

interface EventFiltersProps {
  query: EventQuery
  /** Whom the ids stand for, as far as that is known. */
  names: Readonly<Record<Role, string | undefined>>
  /** The events that are shown. */
  shown: readonly LoggedEvent[]
  error: unknown
  onQuery: (query: EventQuery, isTyped: boolean) => void
}

/** What narrows the log. */
export function EventFilters ({ query, names, shown, error, onQuery }: EventFiltersProps) {
  const { say, sayFault } = useSpeech()
  const change = (name: typeof NAMES[number], value: string, isTyped: boolean): void => {
    const { [name]: before, ...others } = query
    onQuery(value.trim() === '' ? others : { ...others, [name]: value.trim() }, isTyped)
  }
  const faultOf = (name: string): string | undefined => {
    const fault = error instanceof ClientError ? error.errors.find(({ parameter }) => parameter === name) : undefined
    return fault && sayFault(fault)
  }
  const types = [...new Set([...TYPES, ...query.type === undefined ? [] : [query.type]])]
  const moment = (name: 'since' | 'until') => (
    <DebouncedField
      label={say(`events.${name}`)}
      type='datetime-local'
      value={toLocal(query[name] ?? '')}
      fault={faultOf(name)}
      onValue={(local) => change(name, fromLocal(local), true)}
    />
  )
  const id = (role: Role) => (
    <Who
      role={role}
      value={query[role] ?? ''}
      name={names[role]}
      shown={shown}
      fault={faultOf(role)}
      onValue={(value) => change(role, value, true)}
    />
  )
  // On a narrow screen they would push the log out of view.
  const [isOpen] = useState(() => Object.keys(query).length > 0 || matchMedia('(min-width: 48rem)').matches)
  return (
    <details class='narrowing' open={isOpen}>
      <summary>{say('users.filters')}</summary>
      <div class='grid' role='search'>
        <SelectField
          label={say('events.type')}
          value={query.type ?? ''}
          fault={faultOf('type')}
          options={[['', say('events.any')], ...types.map((each) => [each, each] as const)]}
          onValue={(type) => change('type', type, false)}
        />
        {id('subject')}
        {id('actor')}
        {moment('since')}
        {moment('until')}
      </div>
    </details>
  )
}
