import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { DeletedUser } from '../api/types.ts'
import { ActorName } from '../events/table.tsx'
import { Ago } from '../parts/ago.tsx'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { Dialog, focusHeading } from '../parts/dialog.tsx'
import { Alert, Needs, Time, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { useSession } from '../state/session.ts'
import { useSettled } from '../state/settled.ts'
import { useSpeech } from '../state/texts.ts'
import { tagOf } from './bulk.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { ReadUser } from './read.tsx'
import { userSchema } from './schema.ts'
import { type Asked, type Selection, SelectionBar, selectionColumn, without } from './selection.tsx'

/** The words of a text, as a search compares them: without case, accents and signs. */
function plainWords (text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
}

/** True if words of a user begin with each of these. */
function hasWords ({ name, email }: DeletedUser, words: readonly string[]): boolean {
  const own = plainWords(`${name} ${email}`)
  return words.every((word) => own.some((each) => each.startsWith(word)))
}

/** When a user who was deleted is purged. */
function purgedAt ({ deletedAt }: DeletedUser, retention: number): string {
  return new Date(Date.parse(deletedAt) + retention * 1000).toISOString()
}

function DeletedTable () {
  const speech = useSpeech()
  const { say } = speech
  const { client, capabilities } = useSession()
  const { trashRetention } = capabilities
  const notify = useNotify()
  const [searched, setSearched] = useState('')
  const words = plainWords(searched)
  const { loaded, pager } = usePages<DeletedUser>('/users/deleted', {
    pick: words.length === 0 ? null : { by: words.join(' '), isWanted: (user) => hasWords(user, words) }
  })
  const [shown, setShown] = useState<DeletedUser | null>(null)
  const { error, isBusy, run } = useAction()
  const [purged, setPurged] = useState<DeletedUser | null>(null)
  const [selection, setSelection] = useState<Selection>(new Map())
  const [asked, setAsked] = useState<Asked | null>(null)
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
    const button = rows[Math.min(left.current, rows.length - 1)]?.querySelector<HTMLElement>('.menu > summary')
    if (button) button.focus()
    else focusHeading()
    left.current = null
  }, [loaded.value])
  const column = (
    key: 'name' | 'email' | 'deletedAt' | 'deletedBy' | 'purgedAt', cell: Column<DeletedUser>['cell']
  ) => {
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
      <div class='narrowing-row' role='search'>
        <DebouncedField
          type='search'
          label={say('users.search')}
          value={searched}
          onValue={setSearched}
        />
      </div>
      {loaded.value?.isWhole === false && <p class='hint'>{say('pages.cut')}</p>}
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => (
          <div ref={box}>
            {total === 0 && <p class='empty'>{say(words.length === 0 ? 'deleted.none' : 'users.noMatch')}</p>}
            {data.length > 0 && (
              <Table
                label={say('deleted.title')}
                look='people'
                rows={data}
                rowKey={({ id }) => id}
                columns={[
                  selectionColumn(data, { selection, onSelection: setSelection, isOff: loaded.isStale }, say),
                  column('name', (user) => (
                    <button type='button' class='plain name' onClick={() => setShown(user)}>
                      <bdi>{user.name}</bdi>
                    </button>
                  )),
                  column('email', ({ email }) => <bdi>{email}</bdi>),
                  column('deletedAt', ({ deletedAt }) => <Ago moment={deletedAt} isShort />),
                  ...trashRetention === undefined
                    ? []
                    : [column('purgedAt', (user) => (
                      <Ago moment={purgedAt(user, trashRetention)} isShort />
                      ))],
                  column('deletedBy', ({ deletedBy }) => <ActorName actor={deletedBy} />),
                  actionsColumn<DeletedUser>(say('page.actions'), ({ name }) => name, (user) => [
                    { icon: 'details', label: `${say('user.details')}…`, run: () => setShown(user) },
                    { icon: 'restore', label: say('deleted.restore'), isOff, run: () => restore(user) },
                    { icon: 'delete', label: `${say('deleted.purge')}…`, isDanger: true, run: () => setPurged(user) }
                  ])
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
        asked={asked}
        onAsked={setAsked}
        onChanged={() => loaded.reload()}
      />
      {shown !== null && (
        <Dialog title={shown.name} onClose={() => setShown(null)}>
          <p class='facts'>
            <span>{say('deleted.deletedAt')}: <Time moment={shown.deletedAt} /></span>
            <span>{say('deleted.deletedBy')}: <ActorName actor={shown.deletedBy} /></span>
            {trashRetention !== undefined && (
              <span>{say('deleted.purgedAt')}: <Time moment={purgedAt(shown, trashRetention)} /></span>
            )}
          </p>
          <ReadUser user={shown} schema={userSchema(capabilities, speech)} />
          <div class='bar'><button type='button' onClick={() => setShown(null)}>{say('page.close')}</button></div>
        </Dialog>
      )}
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
