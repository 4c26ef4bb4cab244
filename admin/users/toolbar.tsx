import { useRef } from 'preact/hooks'
import type { Capabilities, Fault, User } from '../api/types.ts'
import { labelOf } from '../form/kinds.ts'
import { Elsewhere } from '../palette/elsewhere.tsx'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PageSize } from '../parts/pager.tsx'
import type { Column } from '../parts/table.tsx'
import { useCommand } from '../state/commands.ts'
import { hrefOf, navigate } from '../state/route.ts'
import { useSpeech } from '../state/texts.ts'
import { ColumnChooser } from './columns.tsx'
import { Chips, Filters } from './filters.tsx'
import type { Format } from './export.ts'
import { isFiltered, type ListState, pageSizes } from './query.ts'
import { Views } from './views.tsx'

interface ToolbarProps {
  capabilities: Capabilities
  state: ListState
  columns: ReadonlyArray<Column<User>>
  shown: readonly string[]
  faults: readonly Fault[]
  canExport: boolean
  /** How many users match; null: not known yet. */
  total: number | null
  onState: (state: ListState, isTyped: boolean) => void
  onColumns: (columns: readonly string[]) => void
  onExport: (format: Format) => void
  /** Absent: the person may not import. */
  onImport: (() => void) | undefined
  /** Absent: there is no import that can be undone. */
  onUndoImport: (() => void) | undefined
}

/** What narrows the list, and how it is shown, in one row; below it the filters that are set. */
export function Toolbar (props: ToolbarProps) {
  const { capabilities, state, columns, shown, faults, canExport, total } = props
  const { onState, onColumns, onExport, onImport, onUndoImport } = props
  const { say, sayFault } = useSpeech()
  const search = useRef<HTMLDivElement>(null)
  const find = (): void => {
    const input = search.current?.querySelector('input')
    if (document.activeElement !== input) input?.select()
  }
  // What is typed next belongs to it. Of another view the heading, or what the palette was opened from, gets the focus.
  useCommand('search', true, () => {
    find()
    requestAnimationFrame(find)
  })
  const fault = faults.find(({ parameter }) => parameter === 'q')
  const count = Object.keys(state.filters).length
  const { searchable, fields } = capabilities
  const searched = searchable.map((name) => labelOf(name, fields.properties[name] ?? {}))
  const label = searched.length === 0 ? say('users.search') : say('users.searchFields', { fields: searched.join(', ') })
  const filters = { capabilities, state, faults, onState }
  return (
    <>
      <div class='toolbar'>
        <div class='search' role='search' ref={search}>
          <DebouncedField
            type='search'
            label={label}
            placeholder={label}
            hint={say('users.searchHelp')}
            value={state.q}
            fault={fault && sayFault(fault)}
            onValue={(q) => onState({ ...state, q, page: 1 }, true)}
          />
          <Menu
            label={<><Icon name='filter' />{count === 0 ? say('users.filters') : say('users.filtersSet', { count })}</>}
            side='end'
          >
            <Filters {...filters} total={total} />
          </Menu>
        </div>
        <Views state={state} capabilities={capabilities} onQuery={(query) => navigate(hrefOf(['users'], query))} />
        <ColumnChooser columns={columns} chosen={shown} onChosen={onColumns}>
          <PageSize
            limit={state.limit}
            sizes={pageSizes(capabilities)}
            onSize={(limit) => onState({ ...state, limit, page: 1 }, false)}
          />
        </ColumnChooser>
        <div class='split'>
          <button type='button' disabled={!canExport} onClick={() => onExport('csv')}>
            <Icon name='export' />{say('users.export')}
          </button>
          <Menu label={<span class='visually-hidden'>{say('export.format')}</span>} side='end' hasActions>
            {(['csv', 'ndjson'] as const).map((format) => (
              <button key={format} type='button' disabled={!canExport} onClick={() => onExport(format)}>
                {say(`export.${format}`)}
              </button>
            ))}
          </Menu>
        </div>
        {onImport !== undefined && (
          <div class='split'>
            <button type='button' onClick={onImport}><Icon name='import' />{say('users.import')}…</button>
            {onUndoImport !== undefined && (
              <Menu label={<span class='visually-hidden'>{say('import.last')}</span>} side='end' hasActions>
                <button type='button' class='danger' onClick={onUndoImport}>
                  <Icon name='restore' />{say('import.undo')}
                </button>
              </Menu>
            )}
          </div>
        )}
      </div>
      {state.q.trim() !== '' && !isFiltered({ q: state.q, filters: {} }) && (
        <p class='hint' aria-hidden='true'>{say('users.searchHelp')}</p>
      )}
      <Elsewhere text={state.q} />
      <Chips {...filters} />
    </>
  )
}
