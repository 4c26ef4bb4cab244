import type { Client } from '../api/client.ts'
import type { Listed, User } from '../api/types.ts'
import { ask, type Command } from '../state/commands.ts'
import { offered } from '../state/offers.ts'
import { namedIn } from '../state/pasted.ts'
import { hrefOf, navigate } from '../state/route.ts'
import type { Session } from '../state/session.ts'
import type { Speech } from '../state/texts.ts'
import { findTenants } from '../tenants/switch.tsx'
import { listHref } from '../users/left-list.ts'
import { filterQuery } from '../users/query.ts'
import { findNamed } from './named.ts'

const FOUND = 8

/** Something to go to, or to do. */
export interface Choice {
  key: string
  label: string
  /** What it is, or for a user the address. */
  note: string
  run: () => void
}

export interface View { href: string, label: string }

/** True if each word that was typed begins a word of the label. */
export function isMeant (typed: string, label: string): boolean {
  const words = label.toLowerCase().split(/\s+/)
  return typed.toLowerCase().split(/\s+/).every((part) => words.some((word) => word.startsWith(part)))
}

const goTo = (href: string) => () => navigate(href)

/** What can be done with what is shown, the views, and what can be done from everywhere. */
export function fixedChoices (views: readonly View[], session: Session, { say }: Speech, isOwn: boolean): Choice[] {
  const { can, signOut, capabilities: { offers } } = session
  const action = (key: string, label: string, run: () => void): Choice =>
    ({ key, label, note: say('palette.action'), run })
  const inList = (command: Command) => () => {
    navigate(listHref())
    ask(command)
  }
  const newKey = (): void => {
    navigate(hrefOf(['api-keys']))
    ask('key')
  }
  return [
    ...offered().map(({ key, label, run }) => action(key, label, run)),
    ...views.map(({ href, label }) => ({ key: href, label, note: say('palette.view'), run: goTo(href) })),
    ...can('users:write') ? [action('new', say('users.new'), goTo(hrefOf(['users', 'new'])))] : [],
    ...offers.apiKeys && can('keys:write') ? [action('key', say('keys.new'), newKey)] : [],
    ...can('users:write') && can('users:read') ? [action('import', say('import.title'), inList('import'))] : [],
    ...can('users:read')
      ? (['csv', 'ndjson'] as const).map((format) =>
          action(format, `${say('export.title')}: ${say(`export.${format}`)}`, inList(format)))
      : [],
    ...isOwn ? [action('out', say('signIn.out'), signOut)] : []
  ]
}

/**
 * What the API finds for what was typed: what an id or the start of a key names, or tenants by the beginning of their
 * name and users by words.
 */
export async function foundChoices (
  typed: string,
  session: Session,
  speech: Speech,
  signal: AbortSignal
): Promise<Choice[]> {
  const { client, can, capabilities: { offers, caller, pageSize } } = session
  const { say } = speech
  const named = namedIn(typed)
  if (named !== null) {
    const found = await findNamed(named, session, speech, signal)
    return found === null ? [] : [{ ...found, run: goTo(found.href) }]
  }
  const { q } = filterQuery({ q: typed, filters: {} })
  const mayList = offers.tenants && caller.tenant === undefined && can('tenants:read')
  const [tenants, users] = await Promise.all([
    mayList && typed !== '' ? findTenants(client, typed, signal) : [],
    q !== undefined && can('users:read') ? findUsers(client, q, Math.min(FOUND, pageSize.max), signal) : []
  ])
  return [
    ...users.map(({ id, name, email }) => ({ key: id, label: name, note: email, run: goTo(hrefOf(['users', id])) })),
    ...users.length > 0
      ? [{
          key: 'list',
          label: say('palette.list', { text: `\u2068${typed}\u2069` }),
          note: say('users.title'),
          run: goTo(hrefOf(['users'], new URLSearchParams({ q: typed })))
        }]
      : [],
    ...tenants.slice(0, FOUND).map(({ id }) =>
      ({ key: `@${id}`, label: id, note: say('users.tenant'), run: goTo(hrefOf(['users'], undefined, id)) }))
  ]
}

async function findUsers (client: Client, q: string, limit: number, signal: AbortSignal): Promise<User[]> {
  const query = new URLSearchParams({ q, limit: String(limit), select: 'id,name,email' })
  return (await client.get<Listed<User>>(`/users?${query.toString()}`, { signal })).body.data
}
