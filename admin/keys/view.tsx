import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'
import { focusHeading } from '../parts/dialog.tsx'
import { Needs, WhenLoaded } from '../parts/feedback.tsx'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { Pager } from '../parts/pager.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useCommand } from '../state/commands.ts'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { namedIn } from '../state/pasted.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { filterQuery } from '../users/query.ts'
import { CreateKey } from './create.tsx'
import { KeyDialog, keyHref } from './detail.tsx'
import { isActive, KeyStatus } from './expiry.tsx'
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

/** The API keys, the newest first: without their texts, which nobody can read again. */
export function KeysView ({ query }: { query: URLSearchParams }) {
  const { say } = useSpeech()
  const { can } = useSession()
  const notify = useNotify()
  const [searched, setSearched] = useState('')
  const filter = keyFilter(searched)
  const { loaded, pager } = usePages<ApiKey>('/api-keys', '-createdAt', filter)
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
      ? [column('owner', ({ owner }) => owner !== undefined && <bdi>{owner}</bdi>)]
      : [],
    ...keys.some(({ tenant }) => tenant !== undefined)
      ? [column('tenant', ({ tenant }) => tenant !== undefined && <code>{tenant}</code>)]
      : [],
    column('scopes', ({ scopes }) => <Scopes scopes={scopes} />),
    column('expires', ({ expiresAt, revokedAt }) => {
      if (revokedAt !== undefined) return ''
      return expiresAt === undefined ? say('page.never') : <Ago moment={expiresAt} />
    })
  ]
  const actions: Column<ApiKey> = {
    key: 'actions',
    label: say('page.actions'),
    heading: <span class='visually-hidden'>{say('page.actions')}</span>,
    cell: (apiKey) => isActive(apiKey) && (
      <span class='bar'>
        <button type='button' class='small' onClick={() => setOpen({ is: 'rotate', apiKey })}>
          {say('keys.rotate')}…<span class='visually-hidden'>: {apiKey.name}</span>
        </button>
        <button type='button' class='small danger' onClick={() => setOpen({ is: 'revoke', apiKey })}>
          {say('keys.revoke')}…<span class='visually-hidden'>: {apiKey.name}</span>
        </button>
      </span>
    )
  }
  return (
    <>
      <div class='tools'>
        <span class='space' />
        <Needs scope='keys:write'>
          <button type='button' class='primary' onClick={() => setOpen({ is: 'create' })}>{say('keys.new')}</button>
        </Needs>
      </div>
      <div role='search'>
        <DebouncedField
          type='search'
          label={say('keys.search')}
          hint={say('keys.searchHelp')}
          value={searched}
          onValue={setSearched}
        />
      </div>
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='empty' role='status'>{say(Object.keys(filter).length === 0 ? 'keys.none' : 'keys.noMatch')}</p>
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
