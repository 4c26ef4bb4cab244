import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { useSpeech } from '../state/texts.ts'
import type { View } from './choices.ts'
import { Palette } from './palette.tsx'

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** Opens the palette, by its button and by Ctrl+K or ⌘K. */
export function PaletteOpener ({ views }: { views: readonly View[] }) {
  const { say } = useSpeech()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event
      if (key.toLowerCase() !== 'k' || (isMac ? !metaKey : !ctrlKey) || altKey || shiftKey) return
      event.preventDefault()
      // Another dialog is to be answered first.
      setOpen((isOpen) => !isOpen && document.querySelector('dialog[open]') === null)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return (
    <>
      <button
        type='button'
        class='opener'
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        onClick={() => setOpen(true)}
      >
        <Icon name='search' /><span>{say('palette.open')}</span>
        <kbd aria-hidden='true'>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {isOpen && <Palette views={views} onClose={() => setOpen(false)} />}
    </>
  )
}
