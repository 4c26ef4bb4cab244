import { useState } from 'preact/hooks'
import type { ApiKey } from '../api/types.ts'
import { focusHeading } from '../parts/dialog.tsx'
import { Needs, Time, WhenLoaded } from '../parts/feedback.tsx'
import { Pager } from '../parts/pager.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useNotify } from '../state/notices.ts'
import { usePages } from '../state/pages.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { CreateKey } from './create.tsx'
import { Expiry, isActive, KeyStatus } from './expiry.tsx'
import { RevokeKey, RotateKey } from './rotate.tsx'

/** The columns of what a key may lack. */
const OPTIONAL = ['tenant', 'owner', 'addresses', 'rateLimit'] as const

type Open = { is: 'create' } | { is: 'rotate' | 'revoke', apiKey: ApiKey }

/** The API keys: without their texts, which nobody can read again. */
export function KeysView () {
  const { say } = useSpeech()
  const { capabilities: { caller }, can } = useSession()
  const notify = useNotify()
  const { loaded, pager } = usePages<ApiKey>('/api-keys')
  const [open, setOpen] = useState<Open | null>(null)
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
    key: 'name' | 'status' | 'scopes' | 'start' | 'created' | 'expires' | 'lastUsed' | typeof OPTIONAL[number],
    cell: Column<ApiKey>['cell']
  ): Column<ApiKey> => ({ key, label: say(`keys.${key}`), heading: say(`keys.${key}`), cell })
  const columnsOf = (keys: readonly ApiKey[]): Array<Column<ApiKey>> => [
    column('name', ({ id, name }) => (
      <><bdi>{name}</bdi>{id === caller.id && <span class='muted'> ({say('keys.own')})</span>}</>
    )),
    column('status', (apiKey) => <KeyStatus apiKey={apiKey} />),
    column('scopes', ({ scopes }) => scopes.map((scope) => <code key={scope} class='scope'>{scope}</code>)),
    column('start', ({ start }) => <code>{start}…</code>),
    column('created', ({ createdAt }) => <Time moment={createdAt} />),
    column('expires', (apiKey) => <Expiry apiKey={apiKey} />),
    column('lastUsed', ({ lastUsedAt }) =>
      lastUsedAt === undefined ? say('page.never') : <Time moment={lastUsedAt} />),
    ...[
      column('tenant', ({ tenant }) => tenant !== undefined && <code>{tenant}</code>),
      column('owner', ({ owner }) => <bdi>{owner}</bdi>),
      column('addresses', ({ addresses = [] }) =>
        addresses.map((each) => <code key={each} class='scope'>{each}</code>)),
      column('rateLimit', ({ rateLimit }) => rateLimit !== undefined &&
        say('keys.limitOf', { count: rateLimit.max, window: rateLimit.window }))
    ].filter((_, i) => keys.some((apiKey) => apiKey[OPTIONAL[i] ?? 'owner'] !== undefined))
  ]
  const actions: Column<ApiKey> = {
    key: 'actions',
    label: say('page.actions'),
    heading: <span class='visually-hidden'>{say('page.actions')}</span>,
    cell: (apiKey) => isActive(apiKey) && (
      <span class='bar'>
        <button type='button' class='small' onClick={() => setOpen({ is: 'rotate', apiKey })}>
          {say('keys.rotate')}<span class='visually-hidden'>: {apiKey.name}</span>
        </button>
        <button type='button' class='small danger' onClick={() => setOpen({ is: 'revoke', apiKey })}>
          {say('keys.revoke')}<span class='visually-hidden'>: {apiKey.name}</span>
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
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p>{say('keys.none')}</p>
          : (
            <>
              <Table
                label={say('keys.list')}
                rows={data}
                rowKey={({ id }) => id}
                columns={can('keys:write') ? [...columnsOf(data), actions] : columnsOf(data)}
              />
              <Pager {...pager} total={total} />
            </>
            )}
      </WhenLoaded>
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
