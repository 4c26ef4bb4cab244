import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { EventsView } from './events/view.tsx'
import { GroupDetail } from './groups/detail.tsx'
import { GroupList } from './groups/list.tsx'
import { KeysView } from './keys/view.tsx'
import { PaletteOpener } from './palette/opener.tsx'
import { Avatar } from './parts/avatar.tsx'
import { Brand } from './parts/brand.tsx'
import { Needs, Time } from './parts/feedback.tsx'
import { Checkbox } from './parts/field.tsx'
import { Icon } from './parts/icon.tsx'
import { Menu } from './parts/menu.tsx'
import { Notices } from './parts/notices.tsx'
import { Start } from './start/view.tsx'
import { NameContext } from './state/name.ts'
import { hrefOf, navigate, placeOf, type Route, useRoute } from './state/route.ts'
import { useSettings } from './state/settings.ts'
import { ask } from './state/commands.ts'
import { shortcuts, useShortcut } from './state/shortcuts.ts'
import { useSession } from './state/session.ts'
import { type TextName, useSpeech } from './state/texts.ts'
import { TenantSwitch } from './tenants/switch.tsx'
import { CreateUser, NewUserLink } from './users/create.tsx'
import { DeletedUsers } from './users/deleted.tsx'
import { UserDetail } from './users/detail.tsx'
import { listHref } from './users/left-list.ts'
import { UserList } from './users/list.tsx'
import { WebhookDetail } from './webhooks/detail.tsx'
import { WebhookList } from './webhooks/list.tsx'

const USER = /^usr_[0-9a-z]{26}$/
const GROUP = /^grp_[0-9a-z]{26}$/
const WEBHOOK = /^whk_[0-9a-z]{26}$/

interface Section { key: string, title: TextName, scope: string }

/** What there is to see, of what the API offers. */
function useSections (): Section[] {
  const { capabilities: { offers }, can } = useSession()
  const start = { key: 'start', title: 'start.title', scope: 'events:read' } as const
  return [
    ...offers.events && can('events:read') ? [start] : [],
    { key: 'users', title: 'users.title', scope: 'users:read' },
    ...offers.groups ? [{ key: 'groups', title: 'groups.title', scope: 'groups:read' } as const] : [],
    ...offers.apiKeys ? [{ key: 'api-keys', title: 'keys.title', scope: 'keys:read' } as const] : [],
    ...offers.events ? [{ key: 'events', title: 'events.title', scope: 'events:read' } as const] : [],
    ...offers.webhooks ? [{ key: 'webhooks', title: 'hooks.title', scope: 'webhooks:read' } as const] : []
  ]
}

function View ({ section, route: { path, query } }: { section: string | undefined, route: Route }) {
  const { say } = useSpeech()
  const [, id] = path
  switch (section) {
    case 'start': return <Start />
    case 'users':
      if (id === undefined) return <UserList query={query} />
      if (id === 'new') return <CreateUser />
      if (id === 'deleted') return <DeletedUsers />
      return USER.test(id)
        ? <UserDetail key={id} id={id} />
        : <p>{say('error.user_not_found')}</p>
    case 'groups':
      if (id === undefined) return <GroupList />
      return GROUP.test(id) ? <GroupDetail key={id} id={id} /> : <p>{say('error.group_not_found')}</p>
    case 'api-keys': return <KeysView query={query} />
    case 'events': return <EventsView query={query} />
    case 'webhooks':
      if (id === undefined) return <WebhookList />
      return WEBHOOK.test(id) ? <WebhookDetail key={id} id={id} /> : <p>{say('error.webhook_not_found')}</p>
    default: return <p>{say('page.notFound')}</p>
  }
}

/** Who is signed in. */
function Caller () {
  const { say } = useSpeech()
  const { session } = useSettings()
  const { capabilities: { caller: { id, name, scopes, expiresAt } }, signOut } = useSession()
  const [areOn, setOn] = useState(shortcuts.areOn())
  const turn = (on: boolean): void => {
    shortcuts.turn(on)
    setOn(on)
  }
  return (
    <Menu label={<><Avatar name={name ?? id} /><bdi>{name ?? id}</bdi></>} side='end'>
      <p>{say('signIn.as', { name: name ?? id })}</p>
      <p>{say('signIn.scopes', { scopes: scopes.join(', ') })}</p>
      {expiresAt !== undefined && <p>{say('keys.expires')}: <Time moment={expiresAt} /></p>}
      <Checkbox label={say('page.shortcuts')} checked={areOn} onChecked={turn} />
      {session === null && <button type='button' onClick={signOut}>{say('signIn.out')}</button>}
    </Menu>
  )
}

/** The frame of every view: sections, who is signed in, what was done. */
export function Shell () {
  const { say } = useSpeech()
  const { title: named } = useSettings()
  const page = named ?? location.host
  const { capabilities: { caller, offers }, can } = useSession()
  const route = useRoute((question) => window.confirm(question ?? say('page.unsaved')))
  const sections = useSections()
  // Users come first, whatever a key may do.
  const shown = sections.filter(({ key, scope }) => key === 'users' || can(scope))
  const heading = useRef<HTMLHeadingElement>(null)
  const place = placeOf(route)
  const { tenant } = route
  const isElsewhere = tenant !== null && (!offers.tenants || (caller.tenant ?? tenant) !== tenant)
  const section = isElsewhere ? undefined : sections.find(({ key }) => key === (route.path[0] ?? sections[0]?.key))
  const isNew = section?.key === 'users' && route.path[1] === 'new'
  const isDeleted = section?.key === 'users' && route.path[1] === 'deleted'
  const isUser = section?.key === 'users' && route.path[1] !== undefined
  const title = section === undefined
    ? say('page.notFound')
    : say(isNew ? 'user.newTitle' : isDeleted ? 'deleted.title' : isUser ? 'user.title' : section.title)

  const views = [
    ...shown.map(({ key, title }) => ({ href: hrefOf([key]), label: say(title) })),
    ...offers.trash && can('users:delete') ? [{ href: hrefOf(['users', 'deleted']), label: say('deleted.title') }] : []
  ]
  const isList = section?.key === 'users' && !isUser
  useShortcut('/', can('users:read')
    ? () => {
        if (!isList) navigate(listHref())
        ask('search')
      }
    : null)
  const isInner = section !== undefined && route.path[1] !== undefined
  const back = isInner ? section.key === 'users' ? listHref() : hrefOf([section.key]) : null
  const [name, setName] = useState<string | null>(null)
  // In the same turn as the heading: whoever sees one sees the other.
  useLayoutEffect(() => {
    const names = [name ?? title, section && say(section.title), tenant, page]
    document.title = [...new Set(names)].filter((each) => typeof each === 'string').join(' · ')
  }, [name, title, tenant, page])
  // Each view begins at its heading, for the keyboard and for screen readers; the first one after signing in too.
  // Before anything in the view asks for the focus.
  useLayoutEffect(() => {
    window.scrollTo(0, 0)
    heading.current?.focus({ preventScroll: true })
  }, [place])

  return (
    <NameContext.Provider value={setName}>
      <Notices>
        <a
          class='skip'
          href='#content'
          onClick={(event) => {
            event.preventDefault()
            heading.current?.focus()
          }}
        >
          {say('page.skip')}
        </a>
        <header class='top'>
          <Brand />
          <nav aria-label={say('page.sections')}>
            {shown.map(({ key, title }) => (
              <a
                key={key}
                href={hrefOf([key], undefined, isElsewhere ? null : tenant)}
                {...(key === section?.key && { 'aria-current': 'page' })}
              >
                {say(title)}
              </a>
            ))}
          </nav>
          <PaletteOpener views={views} />
          {offers.tenants && <TenantSwitch key={tenant} tenant={tenant} section={section?.key ?? 'users'} />}
          <Caller />
        </header>
        <main id='content' class={isList ? 'filling' : ''}>
          {back !== null && <p class='back'><a href={back}><Icon name='previous' />{say('page.back')}</a></p>}
          <h1 ref={heading} tabIndex={-1}>{name === null ? title : <bdi>{name}</bdi>}</h1>
          {section === undefined
            ? <p>{say(isElsewhere && offers.tenants ? 'error.tenant_forbidden' : 'page.notFound')}</p>
            : (
              <Needs
                scope={isNew ? 'users:write' : isDeleted ? 'users:delete' : section.scope}
                hasForm
                otherwise={section.key === 'users' && can('users:write') && <NewUserLink />}
              >
                <View key={tenant} section={section.key} route={route} />
              </Needs>
              )}
        </main>
      </Notices>
    </NameContext.Provider>
  )
}
