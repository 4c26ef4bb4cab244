import { useEffect, useState } from 'preact/hooks'

const PAUSE_MS = 1000

/**
 * False for a second after a list has changed: a click that was meant for what was there would meet something else.
 * `list`: null before it was loaded.
 */
export function useSettled (list: object | null): boolean {
  const [settled, setSettled] = useState(list)
  const isFirst = settled === null
  useEffect(() => {
    if (settled === list) return
    const timer = setTimeout(() => setSettled(list), isFirst ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [list, settled])
  return isFirst || settled === list
}

/**
 * Ignores the second click of a double click if something else has come under the pointer since the first: a row that
 * moved up, or what a dialog lay over.
 */
export function guardDoubleClicks (): void {
  let first: Element | null = null
  document.addEventListener('click', (event) => {
    const { target, detail } = event
    const control = target instanceof Element ? target.closest('button, a, summary, tr') : null
    if (detail > 1 && control !== null && control !== first) {
      event.preventDefault()
      event.stopPropagation()
    } else first = control
  }, true)
}
