import { useState } from 'preact/hooks'
import { type Capabilities, isObject } from '../api/types.ts'
import { TextField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { useSpeech } from '../state/texts.ts'
import { type ListState, writeState } from './query.ts'

const STORE = `fastify-users:${location.pathname}:views`

/** A list with its search, filters, order and columns, by a name. `query`: as the address of the page has them. */
interface View { name: string, query: string }

function readViews (): View[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORE) ?? '[]')
    if (!Array.isArray(stored)) return []
    return stored.flatMap((each: unknown) => isObject(each) && typeof each['name'] === 'string' &&
      typeof each['query'] === 'string'
      ? [{ name: each['name'], query: each['query'] }]
      : [])
  } catch {
    return []
  }
}

interface ViewsProps {
  state: ListState
  capabilities: Capabilities
  onQuery: (query: URLSearchParams) => void
}

/** The views that the person keeps in this browser. Anybody can be given one: it is the address of the page. */
export function Views ({ state, capabilities, onQuery }: ViewsProps) {
  const { say } = useSpeech()
  const [views, setViews] = useState(readViews)
  const [name, setName] = useState('')
  const query = writeState({ ...state, page: 1 }, capabilities).toString()
  const keep = (next: View[]): void => {
    setViews(next)
    try {
      localStorage.setItem(STORE, JSON.stringify(next))
    } catch { /* The browser keeps nothing: the view is in the address. */ }
  }
  const current = views.find((view) => view.query === query)
  return (
    <Menu label={<><Icon name='view' /><bdi>{current?.name ?? say('views.title')}</bdi></>} side='end'>
      {views.length === 0 && <p class='muted'>{say('views.none')}</p>}
      <ul class='choices'>
        {views.map((view) => (
          <li key={view.name}>
            <button
              type='button'
              aria-pressed={view === current}
              onClick={({ currentTarget }) => {
                currentTarget.closest('details')?.removeAttribute('open')
                onQuery(new URLSearchParams(view.query))
              }}
            >
              <bdi>{view.name}</bdi>
            </button>
            <button type='button' class='copy' onClick={() => keep(views.filter((each) => each !== view))}>
              <Icon name='close' /><span class='visually-hidden'>{say('views.remove', { name: view.name })}</span>
            </button>
          </li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const text = name.trim()
          if (text === '') return
          keep([...views.filter((view) => view.name !== text), { name: text, query }])
          setName('')
        }}
      >
        <TextField label={say('views.name')} value={name} onValue={setName} />
        <button type='submit'>{say('views.save')}</button>
      </form>
    </Menu>
  )
}
