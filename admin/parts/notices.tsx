import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { NoticeContext } from '../state/notices.ts'

const NOTICE_MS = 8000

/** Shows what its children say in passing. A modal dialog has its own: what is outside it is dimmed, and not read. */
export function Notices ({ children }: { children: ComponentChildren }) {
  const [notice, setNotice] = useState('')
  useEffect(() => {
    if (notice === '') return
    const timer = setTimeout(() => setNotice(''), NOTICE_MS)
    return () => clearTimeout(timer)
  }, [notice])
  return (
    <NoticeContext.Provider value={setNotice}>
      {children}
      <div class='notice' role='status'>{notice !== '' && <p>{notice}</p>}</div>
    </NoticeContext.Provider>
  )
}
