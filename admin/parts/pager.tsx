import { useEffect, useState } from 'preact/hooks'
import { useSpeech } from '../state/texts.ts'

interface PagerProps {
  page: number
  limit: number
  total: number
  /** The sizes to choose from. */
  sizes: readonly number[]
  onPage: (page: number) => void
  onSize: (limit: number) => void
}

/** First, previous, next, last, a page by its number, and how many rows one has. None where one page has all rows. */
export function Pager ({ page, limit, total, sizes, onPage, onSize }: PagerProps) {
  const { say, number } = useSpeech()
  const pages = Math.max(1, Math.ceil(total / limit))
  const [typed, setTyped] = useState(String(page))
  useEffect(() => setTyped(String(page)), [page])
  const step = (name: 'first' | 'previous' | 'next' | 'last', sign: string, to: number, isOff: boolean) => (
    <button
      type='button'
      class={`step ${name}`}
      aria-label={say(`pages.${name}`)}
      aria-disabled={isOff}
      onClick={() => { if (!isOff) onPage(to) }}
    >
      <span aria-hidden='true'>{sign}</span>
    </button>
  )
  if (page === 1 && total <= Math.min(...sizes)) return null
  return (
    <nav class='pager' aria-label={say('pages.navigation')}>
      {step('first', '«', 1, page <= 1)}
      {step('previous', '‹', Math.min(page - 1, pages), page <= 1)}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const wanted = Number(typed.trim())
          const next = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, pages) : page
          setTyped(String(next))
          if (next !== page) onPage(next)
        }}
      >
        <label>
          <span class='words'>{say('pages.goTo')}</span>{' '}
          <input
            type='text'
            inputMode='numeric'
            size={6}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>{' '}
        <span>{say('pages.of', { pages: number(pages) })}</span>{' '}
        <button type='submit'>{say('pages.go')}</button>
      </form>
      {step('next', '›', page + 1, page >= pages)}
      {step('last', '»', pages, page >= pages)}
      <label>
        {say('pages.size')}{' '}
        <select value={String(limit)} onChange={(event) => onSize(Number(event.currentTarget.value))}>
          {sizes.map((size) => <option key={size} value={size} selected={size === limit}>{size}</option>)}
        </select>
      </label>
    </nav>
  )
}
