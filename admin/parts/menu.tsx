import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isNarrow } from '../state/narrow.ts'

interface MenuProps {
  label: ComponentChildren
  /** At which edge of its button it opens. */
  side?: 'start' | 'end'
  /** True if it holds actions alone: one that is chosen closes it. */
  hasActions?: boolean
  onToggle?: (isOpen: boolean) => void
  children: ComponentChildren
}

/** True if a press beside an open menu only closes it: a row would open, and on a phone the menu covers the rest. */
function closesAlone ({ target }: Event): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, label, select, summary') !== null
  return !isControl || isNarrow()
}

/** What opens below a button, and closes by Escape or when the person goes on elsewhere. */
export function Menu ({ label, side = 'start', hasActions = false, onToggle, children }: MenuProps) {
  const element = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    let isSwallowed = false
    const close = (event: Event): void => {
      const { current } = element
      const isOutside = current?.open === true && event.target instanceof Node && !current.contains(event.target)
      if (isOutside) current.open = false
      if (event.type === 'pointerdown') isSwallowed = isOutside && closesAlone(event)
    }
    const swallow = (event: MouseEvent): void => {
      // A click without a count comes from the keyboard.
      if (!isSwallowed || event.detail === 0) return
      isSwallowed = false
      event.preventDefault()
      event.stopPropagation()
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('focusin', close)
    document.addEventListener('click', swallow, true)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('focusin', close)
      document.removeEventListener('click', swallow, true)
    }
  }, [])
  // The focus goes to what stays: a dialog gives it back there.
  const close = (): void => {
    if (element.current?.open !== true) return
    element.current.open = false
    element.current.querySelector('summary')?.focus()
  }
  const press = (event: KeyboardEvent): void => {
    const { key, target } = event
    if (key === 'Escape') close()
    const { current } = element
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    if (step === 0 || !hasActions || current === null) return
    event.preventDefault()
    current.open = true
    const buttons = [...current.querySelectorAll('button')]
    const from = buttons.findIndex((button) => button === target)
    buttons[from === -1 && step === -1 ? buttons.length - 1 : (from + step + buttons.length) % buttons.length]?.focus()
  }
  return (
    <details
      ref={element}
      class={hasActions ? `menu actions ${side}` : `menu ${side}`}
      onToggle={({ currentTarget }) => onToggle?.(currentTarget.open)}
      onKeyDown={press}
    >
      <summary>{label}</summary>
      <div {...(hasActions && { onClickCapture: close })}>{children}</div>
    </details>
  )
}
