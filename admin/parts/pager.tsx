import { useEffect, useRef } from 'preact/hooks'
import { useSpeech } from '../state/texts.ts'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'

interface SizeProps {
  limit: number
  /** The sizes to choose from. */
  sizes: readonly number[]
  onSize: (limit: number) => void
}

/** How many rows a page has. */
export function PageSize ({ limit, sizes, onSize }: SizeProps) {
  const { say } = useSpeech()
  return (
    <label class='size'>
      {say('pages.size')}{' '}
      <select value={String(limit)} onChange={(event) => onSize(Number(event.currentTarget.value))}>
        {sizes.map((size) => <option key={size} value={size} selected={size === limit}>{size}</option>)}
      </select>
    </label>
  )
}

interface PagerProps extends Omit<SizeProps, 'onSize'> {
  page: number
  total: number
  onPage: (page: number) => void
  /** Absent: the size is chosen elsewhere. */
  onSize?: (limit: number) => void
}

/** Which rows are shown, a step to the next ones, and any page by its number. None where one page has all rows. */
export function Pager ({ page, limit, total, sizes, onPage, onSize }: PagerProps) {
  const { say, number } = useSpeech()
  const pages = Math.max(1, Math.ceil(total / limit))
  const typed = useRef<HTMLInputElement>(null)
  const show = (shown: number): void => { if (typed.current !== null) typed.current.value = String(shown) }
  useEffect(() => show(page), [page])
  const step = (name: 'previous' | 'next', to: number, isOff: boolean) => (
    <button
      type='button'
      class='step'
      aria-label={say(`pages.${name}`)}
      aria-disabled={isOff}
      onClick={() => { if (!isOff) onPage(to) }}
    >
      <Icon name={name} />
    </button>
  )
  if (page === 1 && total <= Math.min(...sizes)) return null
  const from = (page - 1) * limit + 1
  const to = Math.min(total, from + limit - 1)
  const range = from > total ? say('pages.none', { total }) : say('pages.range', { from, to, total })
  return (
    <nav class='pager' aria-label={say('pages.navigation')}>
      <Menu label={range} side='end' isInWindow>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const wanted = Number(typed.current?.value.trim())
            const next = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, pages) : page
            show(next)
            if (next !== page) onPage(next)
          }}
        >
          <label>
            {say('pages.goTo')}{' '}
            <input
              type='text'
              inputMode='numeric'
              size={6}
              ref={typed}
              defaultValue={String(page)}
            />
          </label>{' '}
          <span>{say('pages.of', { pages: number(pages) })}</span>{' '}
          <button type='submit'>{say('pages.go')}</button>
        </form>
        {onSize !== undefined && <PageSize limit={limit} sizes={sizes} onSize={onSize} />}
      </Menu>
      {step('previous', Math.min(page - 1, pages), page <= 1)}
      {step('next', page + 1, page >= pages)}
    </nav>
  )
}
