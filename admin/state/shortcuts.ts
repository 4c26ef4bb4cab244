import { useEffect, useRef } from 'preact/hooks'

// One key alone does something, unless the person has turned that off: who dictates says many letters (WCAG 2.1.4).

/** Where a letter is typed, or chooses something. */
const TYPED = 'input:not([type=checkbox]), select, textarea, details[open]'
const STORE = `fastify-users:${location.pathname}:shortcuts`

export const shortcuts = {
  areOn (): boolean {
    try {
      return localStorage.getItem(STORE) !== 'off'
    } catch {
      return true
    }
  },
  turn (on: boolean): void {
    try {
      if (on) localStorage.removeItem(STORE)
      else localStorage.setItem(STORE, 'off')
    } catch { /* The browser keeps nothing: they stay on. */ }
  }
}

/**
 * Calls `action` when the key is pressed outside of controls and dialogs. null: the key does nothing now. A key has one
 * listener: a second one would not be called.
 */
export function useShortcut (key: string, action: (() => void) | null): void {
  const latest = useRef(action)
  latest.current = action
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { target, ctrlKey, metaKey, altKey } = event
      if (event.key !== key || ctrlKey || metaKey || altKey || event.defaultPrevented || !shortcuts.areOn()) return
      if (latest.current === null) return
      if (target instanceof Element && target.closest(TYPED) !== null) return
      if (document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [key])
}
