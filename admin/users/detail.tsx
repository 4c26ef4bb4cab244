import { useState } from 'preact/hooks'
import type { Answer } from '../api/client.ts'
import { isObject, type Schema, type User } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { UserGroups } from '../groups/of-user.tsx'
import { Avatar } from '../parts/avatar.tsx'
import { focusHeading } from '../parts/dialog.tsx'
import { Alert, CopyButton, Missing, Needs, Time, WhenLoaded } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { useLoad } from '../state/load.ts'
import { useName } from '../state/name.ts'
import { useNotify } from '../state/notices.ts'
import { useOffers } from '../state/offers.ts'
import { hrefOf, navigate as goTo, useNavigate } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useShortcut } from '../state/shortcuts.ts'
import { useSpeech } from '../state/texts.ts'
import { tagOf } from './bulk.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { EditUser } from './edit.tsx'
import { History } from './history.tsx'
import { listHref } from './left-list.ts'
import { ReadUser } from './read.tsx'
import { userSchema } from './schema.ts'
import { Status, StatusDialog } from './status.tsx'
import { StoredData } from './stored-data.tsx'

/** Badges for the fields that are chosen from a few. */
function Choices ({ user, schema }: { user: User, schema: Schema }) {
  const chosen = Object.entries(Object(schema['properties'])).flatMap(([name, inner]) => {
    const own = isObject(inner) ? inner : {}
    const value = user[name]
    return kindOf(own).is === 'choice' && typeof value === 'string' ? [{ name, label: labelOf(name, own), value }] : []
  })
  return (
    <>
      {chosen.map(({ name, label, value }) => (
        <span key={name} class='badge' title={label}>
          <span class='visually-hidden'>{label}: </span><bdi>{value}</bdi>
        </span>
      ))}
    </>
  )
}

/** One user: name, fields and history, and what can be done about the user. */
export function UserDetail ({ id }: { id: string }) {
  const speech = useSpeech()
  const { say, sayError } = speech
  const { client, capabilities, can } = useSession()
  const notify = useNotify()
  const navigate = useNavigate()
  const loaded = useLoad(id, (signal) => client.get<User>(`/users/${encodeURIComponent(id)}`, { signal }))
  const [saved, setSaved] = useState<Answer<User> | null>(null)
  const [open, setOpen] = useState<'status' | 'data' | 'delete' | null>(null)
  const [isEditing, setEditing] = useState(false)
  const [hint, setHint] = useState<string | null>(null)
  const answer = loaded.value
  const isNewer = saved !== null && answer !== null && saved.body.updatedAt >= answer.body.updatedAt
  const stored = isNewer ? saved : answer
  const schema = userSchema(capabilities, speech)
  const edit = (): void => setEditing(true)
  const close = (): void => setOpen(null)
  const { offers } = capabilities
  const hasData = offers.events && can('events:read') && (!offers.groups || can('groups:read'))
  const onChanged = (): void => {
    setHint(say('user.changedMeanwhile'))
    loaded.reload()
  }
  const restore = async (user: User): Promise<void> => {
    const { name } = user
    try {
      await client.send('POST', `/users/${id}/restore`, { headers: { 'if-match': tagOf(user) } })
      notify(say('deleted.restored', { name }), { isForNext: true })
      goTo(hrefOf(['users', id]))
    } catch (error) {
      notify(sayError(error))
    }
  }
  useName(stored?.body.name)
  useShortcut('e', can('users:write') && stored !== null ? edit : null)
  const statusWord = say(stored?.body.status === 'suspended' ? 'user.activate' : 'user.suspend')
  useOffers([
    ...stored !== null && can('users:write') && !isEditing
      ? [{ key: 'edit', label: say('user.edit'), run: edit },
          { key: 'status', label: `${statusWord}…`, run: () => setOpen('status') }]
      : [],
    ...stored !== null && hasData
      ? [{ key: 'data', label: `${say('subject.open')}…`, run: () => setOpen('data') }]
      : [],
    ...stored !== null && can('users:delete')
      ? [{ key: 'delete', label: `${say('user.delete')}…`, run: () => setOpen('delete') }]
      : []
  ])
  if (stored === null) return <WhenLoaded loaded={loaded}>{() => null}</WhenLoaded>
  const user = stored.body
  return (
    <>
      <Avatar name={user.name} />
      <div class='tools person'>
        <Status user={user} />
        <Choices user={user} schema={schema} />
        <span class='space' />
        {can('users:write') && !isEditing && (
          <button type='button' onClick={edit}><Icon name='edit' />{say('user.edit')}</button>
        )}
        {(can('users:write') || hasData || can('users:delete')) && (
          <Menu label={say('page.actions')} side='end' hasActions>
            {can('users:write') && (
              <button type='button' onClick={() => setOpen('status')}>
                <Icon name={user.status === 'active' ? 'suspend' : 'activate'} />{statusWord}…
              </button>
            )}
            {hasData && (
              <button type='button' onClick={() => setOpen('data')}>
                <Icon name='details' />{say('subject.open')}…
              </button>
            )}
            {can('users:delete') && (
              <button type='button' class='danger' onClick={() => setOpen('delete')}>
                <Icon name='delete' />{say('user.delete')}…
              </button>
            )}
          </Menu>
        )}
      </div>
      <p class='facts'>
        <span>
          <a href={`mailto:${encodeURIComponent(user.email)}`}><bdi>{user.email}</bdi></a>{' '}
          <CopyButton what={say('users.email')} text={user.email} />
        </span>
        <span><code>{user.id}</code> <CopyButton what={say('users.id')} text={user.id} /></span>
        {offers.tenants && typeof user['tenant'] === 'string' && (
          <span>{say('users.tenant')}: <code>{user['tenant']}</code></span>
        )}
        <span>{say('users.createdAt')}: <Time moment={user.createdAt} /></span>
        <span>{say('users.updatedAt')}: <Time moment={user.updatedAt} /></span>
      </p>
      {user.statusReason !== null && (
        <p class='banner'>
          <Icon name={user.status === 'active' ? 'details' : 'suspend'} />
          <span>
            {say(user.status === 'active' ? 'users.active' : 'users.suspended')}: <bdi>{user.statusReason}</bdi>
          </span>
        </p>
      )}
      <Alert error={hint} />
      <WhenLoaded loaded={loaded}>{() => null}</WhenLoaded>
      <div class='columns'>
        <section class='card'>
          <h2>{say('user.details')}</h2>
          {isEditing
            ? (
              <Needs scope='users:write' hasForm otherwise={<ReadUser user={user} schema={schema} />}>
                <EditUser
                  stored={stored}
                  onStored={setSaved}
                  onDone={() => {
                    setEditing(false)
                    focusHeading()
                  }}
                />
              </Needs>
              )
            : <ReadUser user={user} schema={schema} />}
        </section>
        {offers.events && (
          <section class='card'>
            <h2>{say('user.history')}</h2>
            <Needs scope='events:read'>
              <History stored={stored} onStored={setSaved} onChanged={onChanged} />
            </Needs>
          </section>
        )}
        {offers.groups && can('groups:read') && <UserGroups user={id} />}
      </div>
      {!isEditing && <Missing scopes={['users:write', 'users:delete']} />}
      {open === 'status' && (
        <StatusDialog stored={stored} onClose={close} onStored={setSaved} onChanged={onChanged} />
      )}
      {open === 'data' && <StoredData user={user} onClose={close} />}
      {open === 'delete' && (
        <DeleteDialog
          user={user}
          etag={stored.etag}
          onClose={close}
          onChanged={() => {
            close()
            onChanged()
          }}
          onDeleted={(isKept) => {
            notify(say('user.deleted', { name: user.name }), {
              isForNext: true,
              ...(isKept && { action: { label: say('page.undo'), run: () => restore(user) } })
            })
            navigate(listHref())
          }}
        />
      )}
    </>
  )
}
