import { useState } from 'preact/hooks'
import { isTenant } from '../../lib/core/tenant.ts'
import type { Client } from '../api/client.ts'
import type { Listed, Tenant } from '../api/types.ts'
import { DebouncedField } from '../parts/debounced-field.tsx'
import { WhenLoaded } from '../parts/feedback.tsx'
import { Menu } from '../parts/menu.tsx'
import { useLoad } from '../state/load.ts'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'

const SHOWN = 20

/** The first tenants whose names begin with a text. They are listed by name, so that they follow the text itself. */
export async function findTenants (client: Client, begins: string, signal: AbortSignal): Promise<Tenant[]> {
  const query = new URLSearchParams({ limit: String(SHOWN), ...(isTenant(begins) && { after: begins }) })
  const options = { signal, isOfAll: true }
  const { body: { data } } = await client.get<Listed<Tenant>>(`/tenants?${query.toString()}`, options)
  return data.filter(({ id }) => id.startsWith(begins))
}

interface ChoiceProps {
  tenant: string | null
  /** Where a tenant is shown; null: all of them. */
  hrefFor: (tenant: string | null) => string
}

/** The tenants to choose from. A key that may not list them goes to one by its name. */
function TenantChoice ({ tenant, hrefFor }: ChoiceProps) {
  const { say } = useSpeech()
  const { client, can } = useSession()
  const [begins, setBegins] = useState('')
  const wanted = begins.trim()
  const loaded = useLoad(wanted, async (signal) =>
    can('tenants:read') ? await findTenants(client, wanted, signal) : [])
  const link = (to: string | null, text: string, users?: number) => (
    <li key={to ?? ''}>
      <a href={hrefFor(to)} {...(to === tenant && { 'aria-current': 'true' as const })}>
        <span>{text}</span>{users !== undefined && <span class='muted'>{say('users.total', { count: users })}</span>}
      </a>
    </li>
  )
  return (
    <>
      <DebouncedField type='search' label={say('tenants.find')} value={begins} onValue={setBegins} />
      <WhenLoaded loaded={loaded}>
        {(found) => (
          <ul class='choices'>
            {link(null, say('tenants.all'))}
            {isTenant(wanted) && found.every(({ id }) => id !== wanted) && link(wanted, wanted)}
            {found.map(({ id, users }) => link(id, id, users))}
          </ul>
        )}
      </WhenLoaded>
    </>
  )
}

/** The tenant that the page is narrowed to. The platform's keys choose it, those of a tenant have theirs. */
export function TenantSwitch ({ tenant, section }: { tenant: string | null, section: string }) {
  const { say } = useSpeech()
  const { capabilities: { caller } } = useSession()
  const [isOpen, setOpen] = useState(false)
  if (caller.tenant !== undefined) {
    return <span class='tenant'><span class='visually-hidden'>{say('users.tenant')}: </span>{caller.tenant}</span>
  }
  return (
    <Menu
      label={<><span class='visually-hidden'>{say('users.tenant')}: </span><bdi>{tenant ?? say('tenants.all')}</bdi></>}
      side='end'
      onToggle={setOpen}
    >
      {isOpen && <TenantChoice tenant={tenant} hrefFor={(to) => hrefOf([section], undefined, to)} />}
    </Menu>
  )
}
