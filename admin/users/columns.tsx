import type { ComponentChildren } from 'preact'
import type { Capabilities, Schema, User } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { Avatar } from '../parts/avatar.tsx'
import { CopyButton, Time } from '../parts/feedback.tsx'
import { Checkbox } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import type { Column } from '../parts/table.tsx'
import { hrefOf } from '../state/route.ts'
import { type Speech, useSpeech } from '../state/texts.ts'
import { Status } from './status.tsx'
import { Value } from './values.tsx'

const USUAL = ['name', 'email', 'tenant', 'createdAt']
const STORE = `fastify-users:${location.pathname}:columns`

/** Every column that the list can have, in order. */
export function allColumns ({ fields, offers }: Capabilities, { say }: Speech): Array<Column<User>> {
  const own = Object.entries(fields.properties).map(([name, schema]): Column<User> => {
    const label = labelOf(name, schema)
    return { key: name, label, heading: label, cell: (user) => <Value value={user[name]} schema={schema} /> }
  })
  const moment = (key: 'createdAt' | 'updatedAt'): Column<User> => {
    const label = say(`users.${key}`)
    return { key, label, heading: label, cell: (user) => <Time moment={user[key]} /> }
  }
  return [
    {
      key: 'name',
      label: say('users.name'),
      heading: say('users.name'),
      cell: (user) => (
        <>
          <Avatar name={user.name} />
          <a class='name' href={hrefOf(['users', user.id])}><bdi>{user.name}</bdi></a>
          {user.status !== 'active' && <>{' '}<Status user={user} /></>}
        </>
      )
    },
    {
      key: 'email',
      label: say('users.email'),
      heading: say('users.email'),
      cell: (user) => <><bdi>{user.email}</bdi><CopyButton what={say('users.email')} text={user.email} /></>
    },
    ...offers.tenants
      ? [{
          key: 'tenant',
          label: say('users.tenant'),
          heading: say('users.tenant'),
          cell: ({ tenant }: User) => typeof tenant === 'string' && <code>{tenant}</code>
        }]
      : [],
    ...own,
    moment('createdAt'),
    moment('updatedAt'),
    {
      key: 'id',
      label: say('users.id'),
      heading: say('users.id'),
      cell: (user) => <><code>{user.id}</code> <CopyButton what={say('users.id')} text={user.id} /></>
    }
  ]
}

/** True if a field is short enough to be shown unless the person says otherwise. */
function isShort (schema: Schema | undefined): boolean {
  const kind = kindOf(schema ?? {})
  return kind.is === 'text' ? !kind.isLong : ['choice', 'number', 'flag', 'date', 'moment'].includes(kind.is)
}

function readChoice (): string[] | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORE) ?? 'null')
    return Array.isArray(stored) ? stored.map(String) : null
  } catch {
    return null
  }
}

/** The columns of a list whose address names none: those that the person has chosen last. */
export function usualColumns ({ fields }: Capabilities): readonly string[] {
  const short = Object.keys(fields.properties).filter((name) => isShort(fields.properties[name])).slice(0, 3)
  return readChoice() ?? [...USUAL, ...short]
}

/** Keeps the choice for the next visit: it says nothing of anybody. */
export function keepColumns (chosen: readonly string[]): void {
  try {
    localStorage.setItem(STORE, JSON.stringify(chosen))
  } catch { /* The browser keeps nothing: the choice is in the address. */ }
}

interface ChooserProps {
  columns: ReadonlyArray<Column<User>>
  chosen: readonly string[]
  onChosen: (chosen: string[]) => void
  /** Shown below the columns. */
  children: ComponentChildren
}

export function ColumnChooser ({ columns, chosen, onChosen, children }: ChooserProps) {
  const { say } = useSpeech()
  return (
    <Menu label={<><Icon name='columns' />{say('users.columns')}</>} side='end'>
      {columns.filter(({ key }) => key !== 'name').map(({ key, label }) => (
        <Checkbox
          key={key}
          label={label}
          checked={chosen.includes(key)}
          onChecked={(on) => onChosen(on ? [...chosen, key] : chosen.filter((each) => each !== key))}
        />
      ))}
      {children}
    </Menu>
  )
}
