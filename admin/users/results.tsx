import type { Listed, User } from '../api/types.ts'
import { focusHeading } from '../parts/dialog.tsx'
import { Pager } from '../parts/pager.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { type Speech, useSpeech } from '../state/texts.ts'
import { filterQuery, isFiltered, type ListState, pageSizes, sortable } from './query.ts'
import { type Asked, type Selection, selectionColumn } from './selection.tsx'

interface ResultsProps {
  found: Listed<User>
  /** True while these are not the users that were asked for. */
  isStale: boolean
  state: ListState
  columns: ReadonlyArray<Column<User>>
  selection: Selection
  onState: (state: ListState) => void
  onSelection: (selection: Selection) => void
  onAsked: (asked: Asked) => void
}

/** A column with a heading that sorts by it. */
function sorted (
  column: Column<User>,
  { sort }: ListState,
  onSort: (sort: string) => void,
  { say }: Speech
): Column<User> {
  const { key, label } = column
  const isUp = sort === key
  const isDown = sort === `-${key}`
  return {
    ...column,
    sort: isUp ? 'ascending' : isDown ? 'descending' : 'none',
    heading: (
      <button
        type='button'
        class='sort'
        aria-label={say('users.sortBy', { field: label })}
        onClick={() => onSort(isUp ? `-${key}` : key)}
      >
        {label}<span aria-hidden='true'>{isUp ? '↑' : isDown ? '↓' : '↕'}</span>
      </button>
    )
  }
}

/** Arrows go from name to name. */
function moveFocus (event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  const { currentTarget, target } = event
  if (step === 0 || !(currentTarget instanceof Element) || !(target instanceof Element)) return
  const names = [...currentTarget.querySelectorAll<HTMLElement>('tbody a.name')]
  const next = names[names.findIndex((name) => name === target) + step]
  if (!target.matches('a.name') || next === undefined) return
  event.preventDefault()
  next.focus()
}

/** A page of users. */
export function Results (props: ResultsProps) {
  const { found: { data, meta: { total } }, isStale, state, columns, selection, onState, onSelection, onAsked } = props
  const speech = useSpeech()
  const { say } = speech
  const { capabilities, can } = useSession()
  const pages = Math.max(1, Math.ceil(total / state.limit))
  const sorts = sortable(capabilities)
  const onSort = (sort: string): void => onState({ ...state, sort, page: 1 })
  const shown = columns.map((column) => sorts.includes(column.key) ? sorted(column, state, onSort, speech) : column)
  const canSelect = can('users:delete') || can('users:write')
  const actions = actionsColumn<User>(say('page.actions'), ({ name }) => name, (user) => {
    const change = user.status === 'active' ? 'suspend' : 'activate'
    const ask = (kind: Asked['kind']) => () => onAsked({ kind, users: [user] })
    const action = (kind: 'suspend' | 'activate' | 'delete') => ({
      icon: kind, label: `${say(`bulk.${kind}`)}…`, isOff: isStale, isDanger: kind === 'delete', run: ask(kind)
    })
    return [...can('users:write') ? [action(change)] : [], ...can('users:delete') ? [action('delete')] : []]
  })
  return (
    <>
      {total === 0 && (
        <div class='empty'>
          <p>
            {say(isFiltered(state) ? 'users.noMatch' : 'users.none')}{' '}
            {isFiltered(state) && (
              <button
                type='button'
                class='plain'
                onClick={() => {
                  onState({ ...state, q: '', filters: {}, page: 1 })
                  focusHeading()
                }}
              >
                {say('users.showAll')}
              </button>
            )}
          </p>
          {isFiltered({ q: state.q, filters: {} }) && (
            <>
              {filterQuery(state)['q'] !== undefined && <p>{say('users.noMatchHelp')}</p>}
              {capabilities.offers.trash && can('users:delete') && (
                <p><a href={hrefOf(['users', 'deleted'])}>{say('users.noMatchDeleted')}</a></p>
              )}
            </>
          )}
        </div>
      )}
      {total > 0 && data.length === 0 && (
        <p class='empty'>
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
        <div class='rows' onKeyDown={moveFocus}>
          <Table
            label={say('users.list')}
            look={canSelect ? 'linked people' : 'linked people plain'}
            rows={data}
            rowKey={({ id }) => id}
            rowHref={({ id }) => hrefOf(['users', id])}
            columns={canSelect
              ? [selectionColumn(data, { selection, onSelection, isOff: isStale }, say), ...shown, actions]
              : shown}
          />
        </div>
      )}
      {total > 0 && (
        <Pager
          page={state.page}
          limit={state.limit}
          total={total}
          sizes={pageSizes(capabilities)}
          onPage={(page) => onState({ ...state, page })}
        />
      )}
    </>
  )
}
