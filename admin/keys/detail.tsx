import type { ComponentChildren } from 'preact'
import type { Client } from '../api/client.ts'
import type { ApiKey, Listed } from '../api/types.ts'
import { Ago } from '../parts/ago.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { CopyButton, Time, WhenLoaded } from '../parts/feedback.tsx'
import { useLoad } from '../state/load.ts'
import { hrefOf, replaceQuery } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { Expiry, isActive, KeyStatus } from './expiry.tsx'

/** How many pages of newer keys are searched for a successor. */
const MOST_PAGES = 5

export const keyHref = (id: string): string => hrefOf(['api-keys'], new URLSearchParams({ key: id }))

/** The keys that replaced one, of those that were made soon enough after it. */
async function successorsOf (client: Client, { id }: ApiKey, limit: number, signal: AbortSignal): Promise<ApiKey[]> {
  let after = id
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { body: { data } } = await client.get<Listed<ApiKey>>(`/api-keys?after=${after}&limit=${limit}`, { signal })
    const found = data.filter(({ rotatedFrom }) => rotatedFrom === id)
    const last = data[data.length - 1]
    if (found.length > 0 || last === undefined || data.length < limit) return found
    after = last.id
  }
  return []
}

function Record ({ apiKey, successors }: { apiKey: ApiKey, successors: readonly ApiKey[] }) {
  const { say } = useSpeech()
  const { can, capabilities: { offers } } = useSession()
  const { id, name, scopes, start, createdAt, lastUsedAt, rotatedFrom, tenant, owner, addresses, rateLimit } = apiKey
  const row = (label: string, value: ComponentChildren) => <div><dt>{label}</dt><dd>{value}</dd></div>
  const eventsHref = (role: 'actor' | 'subject') => hrefOf(['events'], new URLSearchParams({ [role]: id }))
  return (
    <>
      <dl>
        {row(say('keys.status'), <KeyStatus apiKey={apiKey} />)}
        {row(say('users.id'), <><code>{id}</code> <CopyButton what={say('users.id')} text={id} /></>)}
        {row(say('keys.start'), <code>{start}…</code>)}
        {row(say('keys.scopes'), scopes.map((scope) => <code key={scope} class='scope'>{scope}</code>))}
        {owner !== undefined && row(say('keys.owner'), <bdi>{owner}</bdi>)}
        {tenant !== undefined && row(say('keys.tenant'), <code>{tenant}</code>)}
        {row(say('keys.created'), <Time moment={createdAt} />)}
        {row(say('keys.expires'), <Expiry apiKey={apiKey} />)}
        {row(say('keys.lastUsed'), lastUsedAt === undefined ? say('page.never') : <Ago moment={lastUsedAt} />)}
        {addresses !== undefined && row(say('keys.addresses'), addresses.map((each) => (
          <code key={each} class='scope'>{each}</code>
        )))}
        {rateLimit !== undefined &&
          row(say('keys.rateLimit'), say('keys.limitOf', { count: rateLimit.max, window: rateLimit.window }))}
        {rotatedFrom !== undefined && row(say('keys.predecessor'), <a href={keyHref(rotatedFrom)}>{name}</a>)}
        {successors.length > 0 && row(say('keys.successor'), successors.map((each) => (
          <a key={each.id} href={keyHref(each.id)}>{each.name} (<code>{each.start}…</code>)</a>
        )))}
      </dl>
      {offers.events && can('events:read') && (
        <p class='facts'>
          <a href={eventsHref('actor')}>{say('keys.doneWith')}</a>
          <a href={eventsHref('subject')}>{say('keys.ownEvents')}</a>
        </p>
      )}
    </>
  )
}

interface KeyDialogProps {
  id: string
  /** Called with what the person wants to do with the key, once its record is closed. */
  onAction: (is: 'rotate' | 'revoke', apiKey: ApiKey) => void
}

/** All that is known of a key, whose id stands in the address, and what can be done with it. */
export function KeyDialog ({ id, onAction }: KeyDialogProps) {
  const { say } = useSpeech()
  const { client, can, capabilities: { pageSize } } = useSession()
  const loaded = useLoad(id, async (signal) => {
    const { body: apiKey } = await client.get<ApiKey>(`/api-keys/${encodeURIComponent(id)}`, { signal })
    return { apiKey, successors: await successorsOf(client, apiKey, pageSize.max, signal) }
  })
  const apiKey = loaded.value?.apiKey
  const close = (): void => replaceQuery(new URLSearchParams())
  const act = (is: 'rotate' | 'revoke', apiKey: ApiKey): void => {
    close()
    onAction(is, apiKey)
  }
  return (
    <Dialog title={apiKey?.name ?? say('keys.one')} onClose={close}>
      <WhenLoaded loaded={loaded}>{(value) => <Record {...value} />}</WhenLoaded>
      <div class='bar'>
        {can('keys:write') && apiKey !== undefined && isActive(apiKey) && (
          <>
            <button type='button' onClick={() => act('rotate', apiKey)}>{say('keys.rotate')}…</button>
            <button type='button' class='danger' onClick={() => act('revoke', apiKey)}>{say('keys.revoke')}…</button>
          </>
        )}
        <button type='button' onClick={close}>{say('page.close')}</button>
      </div>
    </Dialog>
  )
}
