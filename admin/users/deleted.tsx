import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { DeletedUser } from '../api/types.ts'
import { ActorName } from '../events/table.tsx'
import { Ago } from '../parts/ago.tsx'
import { focusHeading } from '../parts/dialog.tsx'
import { Alert, Needs, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { useSession } from '../state/session.ts'
import { useSettled } from '../state/settled.ts'
import { useSpeech } from '../state/texts.ts'
import { tagOf } from './bulk.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { type Selection, SelectionBar, selectionColumn, without } from './selection.tsx'

function DeletedTable () {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  const { loaded, pager } = usePages<DeletedUser>('/users/deleted')
  const { error, isBusy, run } = useAction()
  const [purged, setPurged] = useState<DeletedUser | null>(null)
  const [selection, setSelection] = useState<Selection>(new Map())
  const isSettled = useSettled(loaded.value)
  const isOff = isBusy || loaded.isLoading || !isSettled
  const leave = ({ id, name }: DeletedUser, text: 'deleted.restored' | 'deleted.purged'): void => {
    left.current = loaded.value?.data.findIndex((user) => user.id === id) ?? 0
    notify(say(text, { name }))
    setSelection(without(selection, id))
    loaded.reload()
  }
  const restore = (user: DeletedUser): void => {
    if (isOff) return
    run(async () => {
      await client.send('POST', `/users/${user.id}/restore`, { headers: { 'if-match': tagOf(user) } })
      leave(user, 'deleted.restored')
    })
  }
  // The focus goes on to the user that follows those who have left.
  const box = useRef<HTMLDivElement>(null)
  const left = useRef<number | null>(null)
  useLayoutEffect(() => {
    if (left.current === null || document.activeElement !== document.body) return
    const rows = box.current?.querySelectorAll('tbody tr') ?? []
    const button = rows[Math.min(left.current, rows.length - 1)]?.querySelector('button')
    if (button) button.focus()
    else focusHeading()
    left.current = null
  }, [loaded.value])
  const column = (key: 'name' | 'email' | 'deletedAt' | 'deletedBy', cell: Column<DeletedUser>['cell']) => {
    const label = say(key === 'name' || key === 'email' ? `users.${key}` : `deleted.${key}`)
    return { key, label, heading: label, cell }
  }
  return (
    <>
      <div class='tools'>
        <p role='status' class='total'>
          {loaded.value !== null && say('users.total', { count: loaded.value.meta.total })}
        </p>
      </div>
      <Alert error={error} />
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => (
          <div ref={box}>
            {total === 0 && <p class='empty'>{say('deleted.none')}</p>}
            {data.length > 0 && (
              <Table
                label={say('deleted.title')}
                look='people'
                rows={data}
                rowKey={({ id }) => id}
                columns={[
                  selectionColumn(data, { selection, onSelection: setSelection, isOff: loaded.isStale }, say),
                  column('name', ({ name }) => <bdi>{name}</bdi>),
                  column('email', ({ email }) => <bdi>{email}</bdi>),
                  column('deletedAt', ({ deletedAt }) => <Ago moment={deletedAt} />),
                  column('deletedBy', ({ deletedBy }) => <ActorName actor={deletedBy} />),
                  {
                    key: 'actions',
                    label: say('page.actions'),
                    heading: <span class='visually-hidden'>{say('page.actions')}</span>,
                    cell: (user) => (
                      <span class='bar'>
                        <button
                          type='button'
                          class='small'
                          aria-disabled={isOff}
                          onClick={() => restore(user)}
                        >
                          {say('deleted.restore')}<span class='visually-hidden'> {user.name}</span>
                        </button>
                        <button
                          type='button'
                          class='small danger'
                          onClick={() => setPurged(user)}
                        >
                          {say('deleted.purge')}…<span class='visually-hidden'> {user.name}</span>
                        </button>
                      </span>
                    )
                  }
                ]}
              />
            )}
            {total > 0 && <Pager {...pager} total={total} />}
          </div>
        )}
      </WhenLoaded>
      <SelectionBar
        selection={selection}
        onSelection={setSelection}
        kinds={['restore']}
        onChanged={() => loaded.reload()}
      />
      {purged !== null && (
        <DeleteDialog
          user={purged}
          etag={tagOf(purged)}
          isFinal
          onClose={() => setPurged(null)}
          onChanged={() => {
            setPurged(null)
            notify(say('user.changedMeanwhile'))
            loaded.reload()
          }}
          onDeleted={() => {
            setPurged(null)
            leave(purged, 'deleted.purged')
          }}
        />
      )}
    </>
  )
}

/** The users that were deleted and can be restored. */
export function DeletedUsers () {
  return <Needs scope='users:delete'><DeletedTable /></Needs>
}
