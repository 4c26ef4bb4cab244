import { useState } from 'preact/hooks'
import type { Group, User } from '../api/types.ts'
import { CopyButton, Missing, Needs, Time, WhenLoaded } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Pager } from '../parts/pager.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { useLoad } from '../state/load.ts'
import { useName } from '../state/name.ts'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { hrefOf, navigate } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Status } from '../users/status.tsx'
import { AddMember, DeleteGroup, NameGroup } from './dialogs.tsx'

interface MembersProps {
  group: Group
  /** True while the person adds one. */
  isAdding: boolean
  onAdded: () => void
  onChanged: () => void
}

/** The members of a group. */
function Members ({ group, isAdding, onAdded, onChanged }: MembersProps) {
  const { say, sayError } = useSpeech()
  const { client, can } = useSession()
  const notify = useNotify()
  const { loaded, pager } = usePages<User>(`/groups/${group.id}/members`, { sort: 'name' })
  const reload = (): void => {
    loaded.reload()
    onChanged()
  }
  const send = (method: 'PUT' | 'DELETE', { id }: User) => client.send(method, `/groups/${group.id}/members/${id}`)
  const remove = async (user: User): Promise<void> => {
    const { name } = user
    try {
      await send('DELETE', user)
      const undo = async (): Promise<void> => {
        await send('PUT', user)
        reload()
      }
      notify(say('groups.removed', { name }), { action: { label: say('page.undo'), run: undo } })
      reload()
    } catch (error) {
      notify(sayError(error))
    }
  }
  const column = (key: 'name' | 'email' | 'status', cell: Column<User>['cell']): Column<User> =>
    ({ key, label: say(`users.${key}`), heading: say(`users.${key}`), cell })
  const columns = [
    column('name', ({ id, name }) => <a class='name' href={hrefOf(['users', id])}><bdi>{name}</bdi></a>),
    column('email', ({ email }) => <bdi>{email}</bdi>),
    column('status', (user) => <Status user={user} />)
  ]
  const actions = actionsColumn<User>(say('page.actions'), ({ name }) => name, (user) => [
    { icon: 'close', label: say('groups.remove'), run: () => { remove(user) } }
  ])
  return (
    <section class='card'>
      <h2>{say('groups.members')}</h2>
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='empty' role='status'>{say('groups.nobody')}</p>
          : (
            <>
              <Table
                label={say('groups.members')}
                rows={data}
                rowKey={({ id }) => id}
                rowHref={({ id }) => hrefOf(['users', id])}
                look='linked'
                columns={can('groups:write') ? [...columns, actions] : columns}
              />
              <Pager {...pager} total={total} />
            </>
            )}
      </WhenLoaded>
      {isAdding && (
        <AddMember
          group={group}
          onClose={(isDone) => {
            onAdded()
            if (isDone) reload()
          }}
        />
      )}
    </section>
  )
}

/** One group: its name, and who is in it. */
export function GroupDetail ({ id }: { id: string }) {
  const { say } = useSpeech()
  const { client, can } = useSession()
  const loaded = useLoad(id, async (signal) => (await client.get<Group>(`/groups/${id}`, { signal })).body)
  const [open, setOpen] = useState<'name' | 'delete' | 'add' | null>(null)
  const group = loaded.value
  useName(group?.name)
  if (group === null) return <WhenLoaded loaded={loaded}>{() => null}</WhenLoaded>
  return (
    <>
      <div class='tools'>
        <span>{say('users.total', { count: group.members })}</span>
        <span class='space' />
        {can('groups:write') && can('users:read') && (
          <button type='button' onClick={() => setOpen('add')}><Icon name='add' />{say('groups.add')}…</button>
        )}
        {can('groups:write') && (
          <Menu label={say('page.actions')} side='end' hasActions>
            <button type='button' onClick={() => setOpen('name')}><Icon name='edit' />{say('groups.rename')}…</button>
            <button type='button' class='danger' onClick={() => setOpen('delete')}>
              <Icon name='delete' />{say('groups.delete')}…
            </button>
          </Menu>
        )}
      </div>
      <p class='facts'>
        <span><code>{group.id}</code> <CopyButton what={say('users.id')} text={group.id} /></span>
        {group.externalId !== undefined && <span>{say('groups.externalId')}: <code>{group.externalId}</code></span>}
        {group.tenant !== undefined && <span>{say('users.tenant')}: <code>{group.tenant}</code></span>}
        <span>{say('users.createdAt')}: <Time moment={group.createdAt} /></span>
        <span>{say('users.updatedAt')}: <Time moment={group.updatedAt} /></span>
      </p>
      <Needs scope='users:read'>
        <Members
          group={group}
          isAdding={open === 'add'}
          onAdded={() => setOpen(null)}
          onChanged={() => loaded.reload()}
        />
      </Needs>
      <Missing scopes={['groups:write']} />
      {open === 'name' && (
        <NameGroup
          group={group}
          onClose={(isDone) => {
            setOpen(null)
            if (isDone) loaded.reload()
          }}
        />
      )}
      {open === 'delete' && (
        <DeleteGroup
          group={group}
          onClose={(isDone) => {
            setOpen(null)
            if (isDone) navigate(hrefOf(['groups']))
          }}
        />
      )}
    </>
  )
}
