import type { Client } from '../api/client.ts'
import type { Listed, User } from '../api/types.ts'
import { ask, type Command } from '../state/commands.ts'
import { offered } from '../state/offers.ts'
import { hrefOf, navigate } from '../state/route.ts'
import type { Session } from '../state/session.ts'
import type { Speech } from '../state/texts.ts'
import { findTenants } from '../tenants/switch.tsx'
import { listHref } from '../users/left-list.ts'
import { filterQuery } from '../users/query.ts'

const FOUND = 8
const USER = /^usr_[0-9a-z]{26}$/

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

/** What the API finds for what was typed: tenants by the beginning of their name, users by words. */
export async function foundChoices (
  typed: string,
  { client, can, capabilities: { offers, caller, pageSize } }: Session,
  { say }: Speech,
  signal: AbortSignal
): Promise<Choice[]> {
  const { q } = filterQuery({ q: typed, filters: {} })
  const mayList = offers.tenants && caller.tenant === undefined && can('tenants:read')
  const [tenants, users] = await Promise.all([
    mayList && typed !== '' ? findTenants(client, typed, signal) : [],
    q !== undefined && can('users:read') ? findUsers(client, q, Math.min(FOUND, pageSize.max), signal) : []
  ])
  const user = (id: string, label: string, note: string): Choice =>
    ({ key: id, label, note, run: goTo(hrefOf(['users', id])) })
  return [
    ...USER.test(typed) ? [user(typed, typed, say('user.title'))] : [],
    ...users.map(({ id, name, email }) => user(id, name, email)),
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
