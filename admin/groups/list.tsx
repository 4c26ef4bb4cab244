import { useState } from 'preact/hooks'
import type { Group } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'
import { Needs, WhenLoaded } from '../parts/feedback.tsx'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Pager } from '../parts/pager.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { usePages } from '../state/pages.ts'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { DeleteGroup, NameGroup } from './dialogs.tsx'

/** Where a group is shown. */
export const groupHref = (id: string): string => hrefOf(['groups', id])

/** The groups, by name. */
export function GroupList () {
  const { say } = useSpeech()
  const { can } = useSession()
  const [name, setName] = useState('')
  const wanted = name.trim()
  const { loaded, pager } = usePages<Group>('/groups', { sort: 'name', filter: wanted === '' ? {} : { name: wanted } })
  const [open, setOpen] = useState<{ is: 'name' | 'delete', group: Group | null } | null>(null)
  const close = (isDone: boolean): void => {
    setOpen(null)
    if (isDone) loaded.reload()
  }
  const column = (key: 'name' | 'members' | 'updatedAt', cell: Column<Group>['cell']): Column<Group> =>
    ({ key, label: say(`groups.${key}`), heading: say(`groups.${key}`), cell })
  const columns = [
    column('name', ({ id, name }) => <a class='name' href={groupHref(id)}><bdi>{name}</bdi></a>),
    column('members', ({ members }) => say('users.total', { count: members })),
    column('updatedAt', ({ updatedAt }) => <Ago moment={updatedAt} />)
  ]
  const actions = actionsColumn<Group>(say('page.actions'), ({ name }) => name, (group) => [
    { icon: 'edit', label: `${say('groups.rename')}…`, run: () => setOpen({ is: 'name', group }) },
    { icon: 'delete', label: `${say('groups.delete')}…`, isDanger: true, run: () => setOpen({ is: 'delete', group }) }
  ])
  return (
    <>
      <div class='tools'>
        <span class='space' />
        <Needs scope='groups:write'>
          <button type='button' class='primary' onClick={() => setOpen({ is: 'name', group: null })}>
            <Icon name='add' />{say('groups.new')}
          </button>
        </Needs>
      </div>
      <div class='narrowing-row' role='search'>
        <DebouncedField type='search' label={say('groups.find')} value={name} onValue={setName} />
      </div>
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='empty' role='status'>{say(wanted === '' ? 'groups.none' : 'groups.noMatch')}</p>
          : (
            <>
              <Table
                label={say('groups.list')}
                rows={data}
                rowKey={({ id }) => id}
                rowHref={({ id }) => groupHref(id)}
                look='linked'
                columns={can('groups:write') ? [...columns, actions] : columns}
              />
              <Pager {...pager} total={total} />
            </>
            )}
      </WhenLoaded>
      {open?.is === 'name' && <NameGroup group={open.group} onClose={close} />}
      {open?.is === 'delete' && open.group !== null && <DeleteGroup group={open.group} onClose={close} />}
    </>
  )
}
