import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useNotify } from '../state/notices.ts'
import { Notices } from './notices.tsx'

interface DialogProps {
  title: string
  /** Called for Escape. */
  onClose: () => void
  /** What is asked before Escape closes it; undefined: nothing. */
  confirmClose?: string | undefined
  /** A palette has no visible heading, and closes by a click beside it. */
  look?: 'wide' | 'palette' | undefined
  children: ComponentChildren
}

/** Goes to the heading of the view, unless a person types elsewhere by then: what has the focus is about to be gone. */
export function focusHeading (): void {
  const { activeElement: before } = document
  requestAnimationFrame(() => {
    const { activeElement: now } = document
    const isTyping = now !== before && now?.matches('input, select, textarea') === true
    if (!isTyping) document.querySelector('h1')?.focus()
  })
}

/** A modal dialog. The browser keeps the focus inside, and gives it back to where it was. */
export function Dialog ({ title, onClose, confirmClose, look, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const notify = useNotify()
  useLayoutEffect(() => {
    notify('')
    const dialog = element.current
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus()
      else focusHeading()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={look ?? ''}
      aria-labelledby={heading}
      onClick={({ target }) => { if (look === 'palette' && target === element.current) onClose() }}
      onKeyDown={(event) => {
        // The key that has opened the dialog is still held down.
        if (event.key === 'Enter' && event.repeat && !(event.target instanceof HTMLTextAreaElement)) {
          event.preventDefault()
        }
      }}
      onCancel={(event) => {
        // The chooser of a file inside has a cancel event too, which bubbles.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        if (confirmClose === undefined || window.confirm(confirmClose)) onClose()
      }}
    >
      <h2 id={heading} class={look === 'palette' ? 'visually-hidden' : ''}>{title}</h2>
      <Notices>{children}</Notices>
    </dialog>
  )
}
