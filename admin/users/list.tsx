import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import type { Listed, User } from '../api/types.ts'
import { focusHeading } from '../parts/dialog.tsx'
import { Needs, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useLoad } from '../state/load.ts'
import { hrefOf, navigate, replaceQuery } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { BulkDelete } from './bulk-delete.tsx'
import { allColumns, ColumnChooser, useColumnChoice } from './columns.tsx'
import { NewUserLink } from './create.tsx'
import { ExportDialog } from './export-dialog.tsx'
import { Filters } from './filters.tsx'
import { filterQuery, isFiltered, type ListState, pageSizes, readState, writeState } from './query.ts'

type Selection = ReadonlyMap<string, User>

function toggled (selection: Selection, users: readonly User[], isOn: boolean): Selection {
  const next = new Map(selection)
  for (const user of users) {
    if (isOn) next.set(user.id, user)
    else next.delete(user.id)
  }
  return next
}

/** The column of checkboxes. */
function selectionColumn (
  users: readonly User[],
  selection: Selection,
  onSelection: (selection: Selection) => void,
  say: ReturnType<typeof useSpeech>['say']
): Column<User> {
  const isAll = users.length > 0 && users.every(({ id }) => selection.has(id))
  return {
    key: 'selection',
    label: '',
    heading: (
      <input
        type='checkbox'
        aria-label={say('users.selectPage')}
        checked={isAll}
        onChange={(event) => onSelection(toggled(selection, users, event.currentTarget.checked))}
      />
    ),
    cell: (user) => (
      <input
        type='checkbox'
        aria-label={say('users.select', { name: user.name })}
        checked={selection.has(user.id)}
        onChange={(event) => onSelection(toggled(selection, [user], event.currentTarget.checked))}
      />
    )
  }
}

interface ResultsProps {
  found: Listed<User>
  state: ListState
  selection: Selection
  onState: (state: ListState) => void
  onSelection: (selection: Selection) => void
}

function Results ({ found: { data, meta: { total } }, state, selection, onState, onSelection }: ResultsProps) {
  const speech = useSpeech()
  const { say } = speech
  const { capabilities, can } = useSession()
  const columns = allColumns(capabilities, speech)
  const [chosen, setChosen] = useColumnChoice(capabilities)
  const shown = columns.filter(({ key }) => key === 'name' || chosen.includes(key)).map((column) =>
    column.key === 'createdAt'
      ? { ...column, sort: state.sort === 'createdAt' ? 'ascending' as const : 'descending' as const }
      : column)
  const pages = Math.max(1, Math.ceil(total / state.limit))
  return (
    <>
      <div class='bar'>
        <p role='status' class='total'>{say('users.total', { count: total })}</p>
        <ColumnChooser columns={columns} chosen={chosen} onChosen={setChosen} />
      </div>
      {total === 0 && <p>{say(isFiltered(state) ? 'users.noMatch' : 'users.none')}</p>}
      {total > 0 && data.length === 0 && (
        <p>
          {say('users.pastEnd', { page: pages })}{' '}
          <button
            type='button'
            onClick={() => {
              onState({ ...state, page: pages })
              focusHeading()
            }}
          >
            {say('pages.last')}
          </button>
        </p>
      )}
      {data.length > 0 && (
        <Table
          label={say('users.list')}
          rows={data}
          rowKey={({ id }) => id}
          columns={can('users:delete') ? [selectionColumn(data, selection, onSelection, say), ...shown] : shown}
        />
      )}
      {total > 0 && (
        <Pager
          page={state.page}
          limit={state.limit}
          total={total}
          sizes={pageSizes(capabilities)}
          onPage={(page) => onState({ ...state, page })}
          onSize={(limit) => onState({ ...state, limit, page: 1 })}
        />
      )}
    </>
  )
}

/** The list of users. */
export function UserList ({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech()
  const { client, capabilities } = useSession()
  const state = readState(query, capabilities)
  const [selection, setSelection] = useState<Selection>(new Map())
  const [dialog, setDialog] = useState<'delete' | 'export' | null>(null)
  const { page, limit, sort } = state
  const asked = new URLSearchParams({ ...filterQuery(state), page: String(page), limit: String(limit), sort })
  const loaded = useLoad(asked.toString(), async (signal) =>
    (await client.get<Listed<User>>(`/users?${asked.toString()}`, { signal })).body)
  const total = loaded.value?.meta.total ?? 0
  // Typing makes no steps in the browser's history; choosing and turning pages do.
  const onState = (next: ListState, isTyped = false): void => {
    const written = writeState(next, capabilities)
    if (isTyped) replaceQuery(written)
    else navigate(hrefOf(['users'], written))
  }
  // A selection is of what was shown: a new search begins with none.
  useEffect(() => setSelection(new Map()), [JSON.stringify(filterQuery(state))])

  return (
    <>
      <div class='bar'>
        <Needs scope='users:write'>
          <NewUserLink />
        </Needs>
        <button
          type='button'
          disabled={total === 0 || loaded.error !== null}
          onClick={() => setDialog('export')}
        >
          {say('users.export')}…
        </button>
        {capabilities.offers.trash && <a href={hrefOf(['users', 'deleted'])}>{say('deleted.title')}</a>}
      </div>
      <Filters
        capabilities={capabilities}
        state={state}
        faults={loaded.error instanceof ApiError ? loaded.error.faults : []}
        onState={onState}
      />
      <Needs scope='users:delete'>
        {selection.size > 0 && (
          <div class='bar selection'>
            <span role='status'>{say('users.selected', { count: selection.size })}</span>
            <button
              type='button'
              onClick={() => {
                setSelection(new Map())
                focusHeading()
              }}
            >
              {say('users.clear')}
            </button>
            <button type='button' class='danger' onClick={() => setDialog('delete')}>
              {say('users.deleteSelected')}…
            </button>
          </div>
        )}
      </Needs>
      <WhenLoaded loaded={loaded}>
        {(found) => (
          <Results found={found} state={state} selection={selection} onState={onState} onSelection={setSelection} />
        )}
      </WhenLoaded>
      {dialog === 'delete' && (
        <BulkDelete
          users={[...selection.values()]}
          onClose={(deleted) => {
            setDialog(null)
            if (deleted.length === 0) return
            focusHeading()
            setSelection(toggled(selection, deleted, false))
            loaded.reload()
          }}
        />
      )}
      {dialog === 'export' && <ExportDialog state={state} total={total} onClose={() => setDialog(null)} />}
    </>
  )
}
