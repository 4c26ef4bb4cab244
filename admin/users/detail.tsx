import { useState } from 'preact/hooks'
import type { Answer } from '../api/client.ts'
import { isObject, type Schema, type User } from '../api/types.ts'
import { Revert } from '../events/revert.tsx'
import { EventTable } from '../events/table.tsx'
import { labelOf } from '../form/kinds.ts'
import { Alert, CopyButton, Needs, Time, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { useLoad } from '../state/load.ts'
import { useNotify } from '../state/notices.ts'
import { hrefOf, useNavigate } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import type { Listed, LoggedEvent } from '../api/types.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { EditUser } from './edit.tsx'
import { pageSizes } from './query.ts'
import { userSchema } from './schema.ts'
import { Status, StatusForm } from './status.tsx'
import { Value } from './values.tsx'

/** Every field, for those who can't change them. */
function ReadUser ({ user, schema }: { user: User, schema: Schema }) {
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : []
  return (
    <dl>
      {properties.map(([name, inner]) => {
        const own = isObject(inner) ? inner : {}
        return (
          <div key={name}>
            <dt>{labelOf(name, own)}</dt>
            <dd><Value value={user[name]} schema={own} /></dd>
          </div>
        )
      })}
    </dl>
  )
}

interface HistoryProps {
  stored: Answer<User>
  /** Called with the user after a change was set back. */
  onStored: (stored: Answer<User>) => void
  onChanged: () => void
}

/** What has happened to a user, newest first. It is loaded again with each version of the user. */
function History ({ stored, onStored, onChanged }: HistoryProps) {
  const { body: { id }, etag } = stored
  const { say } = useSpeech()
  const { client, capabilities } = useSession()
  const sizes = pageSizes(capabilities)
  const [page, setPage] = useState(1)
  const [limit, setLimit] = useState(sizes[0] ?? capabilities.pageSize.max)
  const loaded = useLoad(`${id} ${page} ${limit} ${etag ?? ''}`, async (signal) =>
    (await client.get<Listed<LoggedEvent>>(`/users/${id}/events?page=${page}&limit=${limit}`, { signal })).body)
  return (
    <WhenLoaded loaded={loaded}>
      {({ data, meta: { total } }) => total === 0
        ? <p>{say('user.historyNone')}</p>
        : (
          <>
            <EventTable
              label={say('user.history')}
              events={data}
              hasSubject={false}
              action={(event) => <Revert event={event} stored={stored} onStored={onStored} onChanged={onChanged} />}
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

/** One user: its fields, its history, and what can be done with it. `onTitle` is called with the name. */
export function UserDetail ({ id }: { id: string }) {
  const speech = useSpeech()
  const { say } = speech
  const { client, capabilities } = useSession()
  const notify = useNotify()
  const navigate = useNavigate()
  const loaded = useLoad(id, (signal) => client.get<User>(`/users/${encodeURIComponent(id)}`, { signal }))
  const [saved, setSaved] = useState<Answer<User> | null>(null)
  const [isDeleting, setDeleting] = useState(false)
  const [hint, setHint] = useState<string | null>(null)
  return (
    <>
      <p><a href={hrefOf(['users'])}>{say('page.back')}</a></p>
      <WhenLoaded loaded={loaded}>
        {(answer) => {
          const isNewer = saved !== null && saved.body.updatedAt >= answer.body.updatedAt
          const stored = isNewer ? saved : answer
          const user = stored.body
          const onChanged = (): void => {
            setHint(say('user.changedMeanwhile'))
            loaded.reload()
          }
          return (
            <>
              <p class='facts'>
                <code>{user.id}</code> <CopyButton what={say('users.id')} text={user.id} />
                <span><Status user={user} /></span>
                {capabilities.offers.tenants && typeof user['tenant'] === 'string' && (
                  <span>{say('users.tenant')}: <code>{user['tenant']}</code></span>
                )}
                <span>{say('users.createdAt')}: <Time moment={user.createdAt} /></span>
                <span>{say('users.updatedAt')}: <Time moment={user.updatedAt} /></span>
              </p>
              <section class='card'>
                <h2>{say('user.edit')}: <bdi>{user.name}</bdi></h2>
                <Needs
                  scope='users:write'
                  hasForm
                  otherwise={<ReadUser user={user} schema={userSchema(capabilities, speech)} />}
                >
                  <EditUser stored={stored} onStored={setSaved} />
                </Needs>
              </section>
              {capabilities.offers.events && (
                <section class='card'>
                  <h2>{say('user.history')}</h2>
                  <Needs scope='events:read'>
                    <History stored={stored} onStored={setSaved} onChanged={onChanged} />
                  </Needs>
                </section>
              )}
              <section class='card'>
                <Alert error={hint} />
                <Needs scope='users:write'>
                  <p><StatusForm stored={stored} onStored={setSaved} onChanged={onChanged} /></p>
                </Needs>
                <Needs scope='users:delete'>
                  <button type='button' class='danger' onClick={() => setDeleting(true)}>{say('user.delete')}…</button>
                </Needs>
              </section>
              {isDeleting && (
                <DeleteDialog
                  user={user}
                  etag={stored.etag}
                  onClose={() => setDeleting(false)}
                  onChanged={() => {
                    setDeleting(false)
                    onChanged()
                  }}
                  onDeleted={() => {
                    notify(say('user.deleted', { name: user.name }))
                    navigate(hrefOf(['users']))
                  }}
                />
              )}
            </>
          )
        }}
      </WhenLoaded>
    </>
  )
}
