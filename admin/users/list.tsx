import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ClientError } from '../../client/error.ts'
import type { Listed, User } from '../api/types.ts'
import { ImportDialog } from '../imports/dialog.tsx'
import { useFileDrop } from '../imports/drop.ts'
import { Missing, WhenLoaded } from '../parts/feedback.tsx'
import { useCommand } from '../state/commands.ts'
import { useLoad } from '../state/load.ts'
import { hrefOf, navigate, replaceQuery } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import type { Selected } from './bulk.ts'
import { allColumns, keepColumns, usualColumns } from './columns.tsx'
import { NewUserLink } from './create.tsx'
import { ExportDialog, type Exporting } from './export-dialog.tsx'
import { exported, namedFilters, readSelected } from './export.ts'
import { lastImport, leftList } from './left-list.ts'
import { filterQuery, type ListState, readState, writeState } from './query.ts'
import { Results } from './results.tsx'
import { type Asked, type Selection, SelectionBar } from './selection.tsx'
import { Toolbar } from './toolbar.tsx'

/**
 * Keeps the place in the list for when the person comes back, and goes there once the users are loaded. Other users
 * begin at the top.
 */
function usePlace (query: string, asked: string, isLoaded: boolean) {
  const element = useRef<HTMLDivElement>(null)
  const box = (): Element | null => element.current?.querySelector('.table-box') ?? null
  const isBack = useRef(leftList.query === query)
  const place = useRef({ box: 0, page: 0 })
  const keep = (): void => { place.current = { box: box()?.scrollTop ?? 0, page: window.scrollY } }
  useLayoutEffect(() => {
    if (!isLoaded || !isBack.current) return
    isBack.current = false
    if (leftList.box > 0) box()?.scrollTo(0, leftList.box)
    if (leftList.page > 0) window.scrollTo(0, leftList.page)
  }, [isLoaded])
  useLayoutEffect(() => {
    // Capturing: the event of a box does not bubble.
    document.addEventListener('scroll', keep, true)
    return () => document.removeEventListener('scroll', keep, true)
  }, [])
  const shown = useRef(asked)
  useLayoutEffect(() => {
    if (shown.current === asked) return
    shown.current = asked
    box()?.scrollTo(0, 0)
    window.scrollTo(0, 0)
  }, [asked])
  leftList.query = query
  useEffect(() => () => { Object.assign(leftList, place.current) }, [])
  return element
}

/** The list of users. */
export function UserList ({ query }: { query: URLSearchParams }) {
  const speech = useSpeech()
  const { say } = speech
  const { client, capabilities, can } = useSession()
  const state = readState(query, capabilities)
  const [selection, setSelection] = useState<Selection>(new Map())
  const [dialog, setDialog] = useState<'import' | null>(null)
  const [exporting, setExporting] = useState<Exporting | null>(null)
  const [asked, setAsked] = useState<Asked | null>(null)
  const [dropped, setDropped] = useState<File>()
  const isOver = useFileDrop(can('users:write') ? openImport : null)
  // What an import has made, while the person is asked about its deletion.
  const [undone, setUndone] = useState<readonly Selected[] | null>(null)
  const [imported, setImported] = useState(lastImport.users)
  function openImport (file?: File): void {
    setDropped(file)
    setDialog('import')
  }
  const { page, limit, sort } = state
  const filter = filterQuery(state)
  const wanted = new URLSearchParams({ ...filter, page: String(page), limit: String(limit), sort })
  const loaded = useLoad(wanted.toString(), async (signal) =>
    (await client.get<Listed<User>>(`/users?${wanted.toString()}`, { signal })).body)
  const place = usePlace(query.toString(), wanted.toString(), loaded.value !== null)
  const total = loaded.value?.meta.total ?? 0
  const isCurrent = loaded.value !== null && !loaded.isStale
  // Typing makes no steps in the browser's history; choosing and turning pages do.
  const onState = (next: ListState, isTyped = false): void => {
    const written = writeState(next, capabilities)
    if (isTyped) replaceQuery(written)
    else navigate(hrefOf(['users'], written))
  }
  const hasFields = Object.keys(capabilities.fields.properties).length > 0
  const canExport = isCurrent && total > 0
  useCommand('import', can('users:write'), () => openImport())
  useCommand('csv', canExport, () => setExporting({ format: 'csv', filters: [filter], total }))
  useCommand('ndjson', canExport, () => setExporting({ format: 'ndjson', filters: [filter], total }))
  // A selection is of what was shown: a new search begins with none, before it is painted.
  useLayoutEffect(() => setSelection(new Map()), [JSON.stringify(filter)])

  const columns = allColumns(capabilities, speech)
  const shown = state.columns ?? usualColumns(capabilities)
  return (
    <>
      <div class='tools'>
        <p role='status' class='total'>{loaded.value !== null && say('users.total', { count: total })}</p>
        <span class='space' />
        {capabilities.offers.trash && can('users:delete') && (
          <a href={hrefOf(['users', 'deleted'])}>{say('deleted.title')}</a>
        )}
        {can('users:write') && <NewUserLink />}
      </div>
      <div
        class='list'
        ref={place}
        onKeyDown={(event) => {
          const { target, key, currentTarget } = event
          if (key !== 'ArrowDown' || !(target instanceof HTMLInputElement) || target.type !== 'search') return
          event.preventDefault()
          currentTarget.querySelector<HTMLElement>('tbody a.name')?.focus()
        }}
      >
        <Toolbar
          capabilities={capabilities}
          state={state}
          columns={columns}
          shown={shown}
          faults={loaded.error instanceof ClientError ? loaded.error.errors : []}
          canExport={canExport}
          total={isCurrent ? total : null}
          onState={onState}
          onColumns={(columns) => {
            keepColumns(columns)
            onState({ ...state, columns }, true)
          }}
          onExport={(format) => setExporting({ format, filters: [filter], total })}
          onImport={can('users:write') ? () => openImport() : undefined}
          onUndoImport={can('users:delete') && imported.length > 0 ? () => setUndone(imported) : undefined}
        />
        <WhenLoaded loaded={loaded}>
          {(found) => (
            <Results
              found={found}
              isStale={loaded.isStale || loaded.isLoading}
              state={state}
              columns={columns.filter(({ key }) => key === 'name' || shown.includes(key))}
              selection={selection}
              onState={onState}
              onSelection={setSelection}
              onAsked={setAsked}
            />
          )}
        </WhenLoaded>
        <SelectionBar
          selection={selection}
          onSelection={setSelection}
          kinds={hasFields ? ['suspend', 'activate', 'change', 'delete'] : ['suspend', 'activate', 'delete']}
          asked={asked}
          onAsked={setAsked}
          onExport={(users) => setExporting({ format: 'csv', filters: namedFilters(users), total: users.length })}
          all={isCurrent
            ? { total, load: () => readSelected(exported(client, filter, 'ndjson', new AbortController().signal)) }
            : undefined}
          onChanged={() => loaded.reload()}
        />
        <Missing scopes={['users:write', 'users:delete']} />
      </div>
      {isOver && <p class='drop over'>{say('import.drop')}</p>}
      {exporting !== null && <ExportDialog {...exporting} onClose={() => setExporting(null)} />}
      {dialog === 'import' && (
        <ImportDialog
          file={dropped}
          onClose={(isChanged) => {
            setDialog(null)
            if (isChanged) loaded.reload()
          }}
          onImported={(created) => {
            lastImport.keep(created)
            setImported(created)
          }}
          onUndo={() => {
            setDialog(null)
            setUndone(lastImport.users)
          }}
        />
      )}
      {undone !== null && (
        <BulkDialog
          kind='delete'
          users={undone}
          onClose={(done) => {
            setUndone(null)
            lastImport.keep(imported.filter(({ id }) => done.every((each) => each.id !== id)))
            setImported(lastImport.users)
            loaded.reload()
          }}
        />
      )}
    </>
  )
}
