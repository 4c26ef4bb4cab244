import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isNarrow } from '../state/narrow.ts'
import { useSpeech } from '../state/texts.ts'
import { Icon, type IconName } from './icon.tsx'

interface MenuProps {
  label: ComponentChildren
  /** At which edge of its button it opens. */
  side?: 'start' | 'end'
  /** True if it holds actions alone: one that is chosen closes it. */
  hasActions?: boolean
  /** It opens at a place in the window, where it fits: what its button scrolls in would cut it. */
  isInWindow?: boolean
  onToggle?: (isOpen: boolean) => void
  children: ComponentChildren
}

/** True if a press beside an open menu only closes it: a row would open, and on a phone the menu covers the rest. */
function closesAlone ({ target }: Event): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, label, select, summary') !== null
  return !isControl || isNarrow()
}

/** Puts what has opened beside its button, in the window: below it, or above where there is more room. */
function place (menu: HTMLDetailsElement): void {
  const [button, box] = menu.children
  if (!(button instanceof HTMLElement) || !(box instanceof HTMLElement)) return
  const { top, bottom, left, right } = button.getBoundingClientRect()
  const isBelow = innerHeight - bottom > Math.min(box.scrollHeight, top)
  const isTurned = getComputedStyle(menu).direction === 'rtl'
  box.style.cssText = `position:fixed;${isBelow ? `top:${bottom}px` : `bottom:${innerHeight - top}px`};` +
    (isTurned ? `left:${left}px;right:auto` : `right:${document.documentElement.clientWidth - right}px;left:auto`)
}

/** What opens below a button, and closes by Escape or when the person goes on elsewhere. */
export function Menu (props: MenuProps) {
  const { label, side = 'start', hasActions = false, isInWindow = false, onToggle, children } = props
  const element = useRef<HTMLDetailsElement>(null)
  const placedAt = useRef<number | undefined>(undefined)
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
    // A menu in the window does not move with its row, so it closes once the row does.
    const leave = (): void => {
      const { current } = element
      // The scrolling that brought the button into view may end after the menu has opened, and before it is placed.
      if (current?.open !== true || placedAt.current === undefined) return
      if (current.getBoundingClientRect().top !== placedAt.current) current.open = false
    }
    if (isInWindow) {
      document.addEventListener('scroll', leave, true)
      addEventListener('resize', leave)
    }
    return () => {
      document.removeEventListener('scroll', leave, true)
      removeEventListener('resize', leave)
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
      class={`menu ${side}${hasActions ? ' actions' : ''}`}
      onToggle={({ currentTarget }) => {
        if (isInWindow) {
          if (currentTarget.open) place(currentTarget)
          placedAt.current = currentTarget.open ? currentTarget.getBoundingClientRect().top : undefined
        }
        onToggle?.(currentTarget.open)
      }}
      onKeyDown={press}
    >
      <summary>{label}</summary>
      <div {...(hasActions && { onClickCapture: close })}>{children}</div>
    </details>
  )
}

export interface RowAction {
  icon: IconName
  label: string
  run: () => void
  isOff?: boolean
  /** True of what destroys something. */
  isDanger?: boolean
}

/** What can be done with one row of a table. `of`: what the row is about. None, if nothing can be done. */
export function RowMenu ({ of, actions }: { of: string, actions: readonly RowAction[] }) {
  const { say } = useSpeech()
  if (actions.length === 0) return null
  return (
    <Menu
      label={<><Icon name='more' /><span class='visually-hidden'>{say('page.actionsFor', { name: of })}</span></>}
      side='end'
      hasActions
      isInWindow
    >
      {actions.map(({ icon, label, run, isOff = false, isDanger = false }) => (
        <button
          key={icon}
          type='button'
          class={isDanger ? 'danger' : ''}
          aria-disabled={isOff}
          onClick={() => { if (!isOff) run() }}
        >
          <Icon name={icon} />{label}
        </button>
      ))}
    </Menu>
  )
}
