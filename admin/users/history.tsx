import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Answer } from '../api/client.ts'
import { ClientError } from '../../client/error.ts'
import type { Listed, LoggedEvent, User } from '../api/types.ts'
import { changedLabels, isChange } from '../events/changes.tsx'
import { Timeline } from '../events/timeline.tsx'
import { isSame } from '../form/merge-patch.ts'
import { focusHeading } from '../parts/dialog.tsx'
import { Alert, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { useLoad } from '../state/load.ts'
import { useNotify } from '../state/notices.ts'
import { useSession } from '../state/session.ts'
import { useSettled } from '../state/settled.ts'
import { useSpeech } from '../state/texts.ts'
import { pageSizes } from './query.ts'

interface HistoryProps {
  stored: Answer<User>
  /** Called with the user after a change was set back. */
  onStored: (stored: Answer<User>) => void
  /** The user has another version than the person has seen. */
  onChanged: () => void
}

/** True if a change can be set back: what it made is still so, as the API asks for. */
function canUndo (event: LoggedEvent, user: User): boolean {
  const { before = {}, data } = event
  return isChange(event) && data['name'] !== null &&
    Object.keys(before).every((name) => isSame(user[name] ?? null, data[name] ?? null))
}

/** What has happened to a user, newest first. It is loaded again with each version of the user. */
export function History ({ stored: { body: user, etag }, onStored, onChanged }: HistoryProps) {
  const speech = useSpeech()
  const { say } = speech
  const { client, capabilities, can } = useSession()
  const notify = useNotify()
  const sizes = pageSizes(capabilities)
  const [page, setPage] = useState(1)
  const [limit, setLimit] = useState(sizes[0] ?? capabilities.pageSize.max)
  const loaded = useLoad(`${user.id} ${page} ${limit} ${etag ?? ''}`, async (signal) =>
    (await client.get<Listed<LoggedEvent>>(`/users/${user.id}/events?page=${page}&limit=${limit}`, { signal })).body)
  const { error, isBusy, run } = useAction()
  const [tried, setTried] = useState<string | null>(null)
  const isSettled = useSettled(loaded.value)
  const mayUndo = can('users:write') && can('users:read')
  const isOff = isBusy || loaded.isLoading || !isSettled

  /** Takes back what was just set back. Of a change with two events the earlier one has all of it. */
  const undoLatest = ({ body: { version }, etag }: Answer<User>): Promise<void> => run(async () => {
    const { body: { data } } = await client.get<Listed<LoggedEvent>>(`/users/${user.id}/events?limit=2`)
    const change = data.findLast((event) => event.data['version'] === version)
    if (change === undefined) return onChanged()
    const headers = { 'if-match': etag ?? '*' }
    onStored(await client.send<User>('POST', `/users/${user.id}/revert`, { body: { event: change.id }, headers }))
  })

  const undo = (event: LoggedEvent): void => {
    if (isOff) return
    setTried(event.id)
    run(async () => {
      try {
        const headers = { 'if-match': etag ?? '*' }
        const body = { event: event.id }
        const answer = await client.send<User>('POST', `/users/${user.id}/revert`, { body, headers })
        undone.current = event.id
        onStored(answer)
        notify(say('user.reverted', { fields: changedLabels(event, capabilities, speech) }), {
          action: { label: say('page.undo'), run: () => undoLatest(answer) }
        })
      } catch (error) {
        if (!(error instanceof ClientError) || error.statusCode !== 412) throw error
        onChanged()
      }
    })
  }
  // The button that had the focus is gone with what it could undo.
  const undone = useRef<string | null>(null)
  useLayoutEffect(() => {
    if (undone.current === null) return
    if (document.activeElement === document.body) {
      const entry = document.getElementById(undone.current)
      if (entry === null) focusHeading()
      else entry.focus()
    }
    if (!loaded.isStale && isSettled) undone.current = null
  })

  return (
    <WhenLoaded loaded={loaded}>
      {({ data, meta: { total } }) => total === 0
        ? <p>{say('user.historyNone')}</p>
        : (
          <>
            <Timeline
              label={say('user.history')}
              events={data}
              action={(event) => (
                <>
                  {mayUndo && canUndo(event, user) && (
                    <button type='button' aria-disabled={isOff} onClick={() => undo(event)}>
                      {say('user.revert')}
                    </button>
                  )}
                  <Alert error={event.id === tried ? error : null} />
                </>
              )}
            />
            {total > limit && (
              <Pager
                page={page}
                limit={limit}
                total={total}
                sizes={sizes}
                onPage={setPage}
                onSize={(size) => {
                  setLimit(size)
                  setPage(1)
                }}
              />
            )}
          </>
          )}
    </WhenLoaded>
  )
}
