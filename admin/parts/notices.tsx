import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { NoticeContext, type NoticeOptions, type Notify } from '../state/notices.ts'

const NOTICE_MS = 8000
/** A button takes longer to be reached. */
const ACTION_MS = 20_000

/** Shows what its children say in passing. A modal dialog has its own: what is outside it is dimmed, and not read. */
export function Notices ({ children }: { children: ComponentChildren }) {
  const [notice, setNotice] = useState<NoticeOptions & { text: string } | null>(null)
  const element = useRef<HTMLDivElement>(null)
  const notify = useCallback<Notify>((text, options) => setNotice(text === '' ? null : { text, ...options }), [])
  const action = notice?.action
  useEffect(() => {
    if (notice === null) return
    const end = (): void => {
      const isUsed = element.current?.matches(':hover, :focus-within') === true
      if (isUsed) timer = setTimeout(end, NOTICE_MS)
      else setNotice(null)
    }
    let timer = setTimeout(end, action === undefined ? NOTICE_MS : ACTION_MS)
    return () => clearTimeout(timer)
  }, [notice])
  // Over another person's page it would seem to be about that person.
  useEffect(() => {
    const leave = (): void =>
      setNotice((notice) => notice?.isForNext === true ? { ...notice, isForNext: false } : null)
    window.addEventListener('hashchange', leave)
    return () => window.removeEventListener('hashchange', leave)
  }, [])
  return (
    <NoticeContext.Provider value={notify}>
      {children}
      <div ref={element} class='notice' role='status'>
        {notice !== null && (
          <p>
            {notice.text}
            {action !== undefined && (
              <button
                type='button'
                onClick={() => {
                  setNotice(null)
                  action.run()
                }}
              >
                {action.label}
              </button>
            )}
          </p>
        )}
      </div>
    </NoticeContext.Provider>
  )
}
