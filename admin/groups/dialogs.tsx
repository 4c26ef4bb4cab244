import { useState } from 'preact/hooks'
import type { Fault, Group, Listed, User } from '../api/types.ts'
import { Confirm } from '../parts/confirm.tsx'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { Dialog, focusHeading } from '../parts/dialog.tsx'
import { Alert, useAction, WhenLoaded } from '../parts/feedback.tsx'
import { TextField } from '../parts/field.tsx'
import { useLoad } from '../state/load.ts'
import { useNotify } from '../state/notices.ts'
import { currentTenant } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { faultsOf } from '../users/faults.ts'
import { filterQuery } from '../users/query.ts'

const FOUND = 8

interface DialogProps {
  group: Group
  onClose: (isDone: boolean) => void
}

const versionOf = ({ version }: Group): Record<string, string> => ({ 'if-match': `"${version}"` })

/** Names a new group (`group`: null), or renames one. */
export function NameGroup ({ group, onClose }: Omit<DialogProps, 'group'> & { group: Group | null }) {
  const { say, sayFault } = useSpeech()
  const { client, capabilities: { caller, offers } } = useSession()
  const [name, setName] = useState(group?.name ?? '')
  const [tenant, setTenant] = useState('')
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const isOfAny = group === null && offers.tenants && caller.tenant === undefined && currentTenant() === null
  const faultAt = (pointer: string): string | undefined => {
    const fault = faults.find((each) => each.pointer === pointer)
    return fault && sayFault(fault, name)
  }
  return (
    <Confirm
      title={say(group === null ? 'groups.new' : 'groups.rename')}
      submit={say(group === null ? 'groups.create' : 'groups.save')}
      run={async () => {
        try {
          const body = { name, ...(isOfAny && tenant.trim() !== '' && { tenant: tenant.trim() }) }
          if (group === null) await client.send('POST', '/groups', { body })
          else await client.send('PATCH', `/groups/${group.id}`, { body, headers: versionOf(group) })
          onClose(true)
        } catch (error) {
          setFaults(faultsOf(error))
          throw error
        }
      }}
      onClose={() => onClose(false)}
    >
      <TextField label={say('groups.name')} isRequired value={name} fault={faultAt('/name')} onValue={setName} />
      {isOfAny && (
        <TextField label={say('users.tenant')} value={tenant} fault={faultAt('/tenant')} onValue={setTenant} />
      )}
    </Confirm>
  )
}

/** Deletes a group, after a question. Its members stay users. */
export function DeleteGroup ({ group, onClose }: DialogProps) {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  return (
    <Confirm
      title={say('groups.deleteOf', { name: group.name })}
      submit={say('groups.delete')}
      isDanger
      run={async () => {
        await client.send('DELETE', `/groups/${group.id}`, { headers: versionOf(group) })
        notify(say('groups.deleted', { name: group.name }), { isForNext: true })
        onClose(true)
        focusHeading()
      }}
      onClose={() => onClose(false)}
    >
      <p>{say('groups.deleteHelp')}</p>
    </Confirm>
  )
}

/** Finds a user and adds it to a group. */
export function AddMember ({ group, onClose }: DialogProps) {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  const { error, isBusy, run } = useAction()
  const [text, setText] = useState('')
  const found = useLoad(text.trim(), async (signal): Promise<User[]> => {
    if (text.trim() === '') return []
    const query = new URLSearchParams({ ...filterQuery({ q: text, filters: {} }), limit: String(FOUND) })
    return (await client.get<Listed<User>>(`/users?${query.toString()}`, { signal })).body.data
  })
  const add = ({ id, name }: User) => run(async () => {
    await client.send('PUT', `/groups/${group.id}/members/${id}`)
    notify(say('groups.added', { name }))
    onClose(true)
  })
  return (
    <Dialog title={say('groups.addTo', { name: group.name })} onClose={() => onClose(false)}>
      <DebouncedField
        type='search'
        label={say('users.search')}
        hint={say('users.searchHelp')}
        value={text}
        onValue={setText}
      />
      <Alert error={error} />
      <WhenLoaded loaded={found}>
        {(users) => users.length === 0
          ? <p class='hint' role='status'>{text.trim() === '' ? '' : say('users.noMatch')}</p>
          : (
            <ul class='choices'>
              {users.map((user) => (
                <li key={user.id}>
                  <button type='button' disabled={isBusy} onClick={() => add(user)}>
                    <bdi>{user.name}</bdi> <span class='muted'><bdi>{user.email}</bdi></span>
                  </button>
                </li>
              ))}
            </ul>
            )}
      </WhenLoaded>
      <div class='bar'><button type='button' onClick={() => onClose(false)}>{say('page.cancel')}</button></div>
    </Dialog>
  )
}
