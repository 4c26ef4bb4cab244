import { useRef } from 'preact/hooks'
import type { Capabilities, Fault, User } from '../api/types.ts'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { Menu } from '../parts/menu.tsx'
import type { Column } from '../parts/table.tsx'
import { useShortcut } from '../state/shortcuts.ts'
import { useSpeech } from '../state/texts.ts'
import { ColumnChooser } from './columns.tsx'
import { Chips, Filters } from './filters.tsx'
import { filterQuery, type ListState } from './query.ts'

interface ToolbarProps {
  capabilities: Capabilities
  state: ListState
  columns: ReadonlyArray<Column<User>>
  shown: readonly string[]
  faults: readonly Fault[]
  canExport: boolean
  onState: (state: ListState, isTyped: boolean) => void
  onColumns: (columns: readonly string[]) => void
  onExport: () => void
  /** Absent: the person may not import. */
  onImport: (() => void) | undefined
}

/** What narrows the list, and how it is shown, in one row; below it the filters that are set. */
export function Toolbar (props: ToolbarProps) {
  const { capabilities, state, columns, shown, faults, canExport, onState, onColumns, onExport, onImport } = props
  const { say, sayFault } = useSpeech()
  const search = useRef<HTMLDivElement>(null)
  useShortcut('/', () => search.current?.querySelector('input')?.select())
  const fault = faults.find(({ parameter }) => parameter === 'q')
  const count = Object.keys(state.filters).length
  const filters = { capabilities, state, faults, onState }
  return (
    <>
      <div class='toolbar'>
        <div class='search' role='search' ref={search}>
          <DebouncedField
            type='search'
            label={say('users.search')}
            placeholder={say('users.search')}
            hint={say('users.searchHelp')}
            value={state.q}
            fault={fault && sayFault(fault)}
            onValue={(q) => onState({ ...state, q, page: 1 }, true)}
          />
          <Menu label={count === 0 ? say('users.filters') : say('users.filtersSet', { count })} side='end'>
            <Filters {...filters} />
          </Menu>
        </div>
        <ColumnChooser columns={columns} chosen={shown} onChosen={onColumns} />
        <button type='button' disabled={!canExport} onClick={onExport}>{say('users.export')}…</button>
        {onImport !== undefined && <button type='button' onClick={onImport}>{say('users.import')}…</button>}
      </div>
      {state.q.trim() !== '' && filterQuery(state)['q'] === undefined && (
        <p class='hint' aria-hidden='true'>{say('users.searchHelp')}</p>
      )}
      <Chips {...filters} />
    </>
  )
}
