import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'
import { focusHeading } from '../parts/dialog.tsx'
import { Needs, WhenLoaded } from '../parts/feedback.tsx'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { Pager } from '../parts/pager.tsx'
import { SelectField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { currentTenant } from '../state/route.ts'
import { useCommand } from '../state/commands.ts'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { namedIn } from '../state/pasted.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { filterQuery } from '../users/query.ts'
import { NotSet } from '../users/values.tsx'
import { CreateKey } from './create.tsx'
import { KeyDialog, keyHref } from './detail.tsx'
import { isActive, KEY_STATES, KeyStatus, stateOf } from './expiry.tsx'
import { RevokeKey, RotateKey } from './rotate.tsx'

/** How many scopes a row names. */
const MOST_SCOPES = 3

type Open = { is: 'create' } | { is: 'rotate' | 'revoke', apiKey: ApiKey }

/** The first scopes of a key, and how many more there are. */
function Scopes ({ scopes }: Pick<ApiKey, 'scopes'>) {
  const { say } = useSpeech()
  const count = scopes.length - MOST_SCOPES
  // "and 1 more" is no shorter than the one.
  const shown = count > 1 ? scopes.slice(0, MOST_SCOPES) : scopes
  return (
    <span title={scopes.join(', ')}>
      {shown.map((scope) => <Fragment key={scope}><code class='scope'>{scope}</code>{' '}</Fragment>)}
      {count > 1 && <span class='muted'>{say('keys.more', { count })}</span>}
    </span>
  )
}

interface NameProps { apiKey: ApiKey, predecessor: ApiKey | undefined, successor: ApiKey | undefined }

/** A key's name and how its text begins, with links to the keys that it replaced or was replaced by. */
function Name ({ apiKey: { id, name, start, rotatedFrom }, predecessor, successor }: NameProps) {
  const { say } = useSpeech()
  const { capabilities: { caller } } = useSession()
  return (
    <>
      <a class='name' href={keyHref(id)}><bdi>{name}</bdi></a>
      {id === caller.id && <span class='muted'> ({say('keys.own')})</span>}
      <div class='hint'>
        <code>{start}…</code>{' '}
        {rotatedFrom !== undefined && (
          <a href={keyHref(rotatedFrom)}>
            {predecessor === undefined
              ? say('keys.replacesOther')
              : say('keys.replaces', { start: predecessor.start })}
          </a>
        )}{' '}
        {successor !== undefined && (
          <a href={keyHref(successor.id)}>{say('keys.replacedBy', { start: successor.start })}</a>
        )}
      </div>
    </>
  )
}

/** What the API is asked for: the start of a key or words, as the search for users takes them. */
function keyFilter (text: string): Record<string, string> {
  const named = namedIn(text)
  if (named?.is === 'start') return { start: named.text }
  return named === null ? filterQuery({ q: text, filters: {} }) : { q: named.text }
}

/** What keys are narrowed by: words, or how one begins; and whose they are. */
interface Narrowing { text: string, state: string, owner: string, tenant: string }

const EVERY: Narrowing = { text: '', state: '', owner: '', tenant: '' }

interface FiltersProps { narrowing: Narrowing, onNarrowing: (narrowing: Narrowing) => void }

/** What narrows the list of keys. */
function KeyFilters ({ narrowing, onNarrowing }: FiltersProps) {
  const { say } = useSpeech()
  const { capabilities: { caller, offers } } = useSession()
  const isOfAny = offers.tenants && caller.tenant === undefined && currentTenant() === null
  const field = (name: 'owner' | 'tenant') => (
    <DebouncedField
      label={say(`keys.${name}`)}
      value={narrowing[name]}
      onValue={(value) => onNarrowing({ ...narrowing, [name]: value })}
    />
  )
  return (
    <div class='narrowing-row' role='search'>
      <DebouncedField
        type='search'
        label={say('keys.search')}
        hint={say('keys.searchHelp')}
        value={narrowing.text}
        onValue={(text) => onNarrowing({ ...narrowing, text })}
      />
      <SelectField
        label={say('keys.status')}
        value={narrowing.state}
        options={[['', say('users.any')], ...KEY_STATES.map((state) => [state, say(`keys.is.${state}`)] as const)]}
        onValue={(state) => onNarrowing({ ...narrowing, state })}
      />
      {field('owner')}
      {isOfAny && field('tenant')}
    </div>
  )
}

/** The API keys, the newest first. Nobody can read their texts again. */
export function KeysView ({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech()
  const { can } = useSession()
  const notify = useNotify()
  const [narrowing, setNarrowing] = useState(EVERY)
  const { text, state, owner, tenant } = narrowing
  const filter = {
    ...keyFilter(text),
    ...(owner.trim() !== '' && { owner: owner.trim() }),
    ...(tenant.trim() !== '' && { tenant: tenant.trim() })
  }
  const { loaded, pager } = usePages<ApiKey>('/api-keys', {
    sort: '-createdAt', filter, pick: state === '' ? null : { by: state, isWanted: (each) => stateOf(each) === state }
  })
  const isNarrowed = state !== '' || Object.keys(filter).length > 0
  const [open, setOpen] = useState<Open | null>(null)
  const shown = query.get('key')
  useCommand('key', can('keys:write'), () => setOpen({ is: 'create' }))
  const close = (isDone: boolean): void => {
    setOpen(null)
    if (isDone) loaded.reload()
  }
  // The button that opened the dialog may be gone with its key.
  const closeRow = (isDone: boolean): void => {
    close(isDone)
    if (isDone) focusHeading()
  }
  const column = (
    key: 'name' | 'status' | 'scopes' | 'expires' | 'lastUsed' | 'tenant' | 'owner',
    cell: Column<ApiKey>['cell']
  ): Column<ApiKey> => ({ key, label: say(`keys.${key}`), heading: say(`keys.${key}`), cell })
  const columnsOf = (keys: readonly ApiKey[]): Array<Column<ApiKey>> => [
    column('name', (apiKey) => (
      <Name
        apiKey={apiKey}
        predecessor={keys.find(({ id }) => id === apiKey.rotatedFrom)}
        successor={keys.find(({ rotatedFrom }) => rotatedFrom === apiKey.id)}
      />
    )),
    column('status', (apiKey) => <KeyStatus apiKey={apiKey} />),
    column('lastUsed', ({ lastUsedAt }) => lastUsedAt === undefined ? say('page.never') : <Ago moment={lastUsedAt} />),
    ...keys.some(({ owner }) => owner !== undefined)
      ? [column('owner', ({ owner }) => owner === undefined ? <NotSet /> : <bdi>{owner}</bdi>)]
      : [],
    ...keys.some(({ tenant }) => tenant !== undefined)
      ? [column('tenant', ({ tenant }) => tenant === undefined ? <NotSet /> : <code>{tenant}</code>)]
      : [],
    column('scopes', ({ scopes }) => <Scopes scopes={scopes} />),
    column('expires', ({ expiresAt, revokedAt }) => {
      if (revokedAt !== undefined) return <NotSet />
      return expiresAt === undefined ? say('page.never') : <Ago moment={expiresAt} />
    })
  ]
  const actions = actionsColumn<ApiKey>(say('page.actions'), ({ name }) => name, (apiKey) => isActive(apiKey)
    ? [
        { icon: 'rotate', label: `${say('keys.rotate')}…`, run: () => setOpen({ is: 'rotate', apiKey }) },
        {
          icon: 'close',
          label: `${say('keys.revoke')}…`,
          isDanger: true,
          run: () => setOpen({ is: 'revoke', apiKey })
        }
      ]
    : [])
  return (
    <>
      <div class='tools'>
        <span class='space' />
        <Needs scope='keys:write'>
          <button type='button' class='primary' onClick={() => setOpen({ is: 'create' })}>
            <Icon name='add' />{say('keys.new')}
          </button>
        </Needs>
      </div>
      <KeyFilters narrowing={narrowing} onNarrowing={setNarrowing} />
      {loaded.value?.isWhole === false && <p class='hint'>{say('pages.cut')}</p>}
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='empty' role='status'>{say(isNarrowed ? 'keys.noMatch' : 'keys.none')}</p>
          : (
            <>
              <Table
                label={say('keys.list')}
                rows={data}
                rowKey={({ id }) => id}
                rowHref={({ id }) => keyHref(id)}
                look='linked keys'
                columns={can('keys:write') ? [...columnsOf(data), actions] : columnsOf(data)}
              />
              <Pager {...pager} total={total} />
            </>
            )}
      </WhenLoaded>
      {shown !== null && (
        <KeyDialog key={shown} id={shown} onAction={(is, apiKey) => setOpen({ is, apiKey })} />
      )}
      {open?.is === 'create' && <CreateKey onClose={close} />}
      {open?.is === 'rotate' && <RotateKey apiKey={open.apiKey} onClose={closeRow} />}
      {open?.is === 'revoke' && (
        <RevokeKey
          apiKey={open.apiKey}
          onClose={(isDone) => {
            if (isDone) notify(say('keys.revokeDone', { name: open.apiKey.name }))
            closeRow(isDone)
          }}
        />
      )}
    </>
  )
}
