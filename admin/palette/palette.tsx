import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { useLoad } from '../state/load.ts'
import { cutSecret } from '../state/pasted.ts'
import { useSession } from '../state/session.ts'
import { useSettings } from '../state/settings.ts'
import { useSpeech } from '../state/texts.ts'
import { type Choice, fixedChoices, foundChoices, isMeant, type View } from './choices.ts'

const PAUSE_MS = 150

interface PaletteProps {
  views: readonly View[]
  onClose: () => void
}

/** The text once the person has paused. */
function usePaused (text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

/** Goes to a user or a view, or does something, by its name: a combobox with its list always open (ARIA APG). */
export function Palette ({ views, onClose }: PaletteProps) {
  const speech = useSpeech()
  const { say } = speech
  const session = useSession()
  const isOwn = useSettings().session === null
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const typed = text.trim()
  const paused = usePaused(typed)
  const loaded = useLoad(paused, (signal) => foundChoices(paused, session, speech, signal))
  const isCurrent = paused === typed && !loaded.isStale && !loaded.isLoading
  const choices = [
    ...fixedChoices(views, session, speech, isOwn).filter(({ label }) => isMeant(typed, label)),
    ...isCurrent ? loaded.value ?? [] : []
  ]
  const index = Math.max(0, choices.findIndex(({ key }) => key === chosen))
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => list.current?.children[index]?.scrollIntoView({ block: 'nearest' }), [index, choices.length])
  const run = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    onClose()
    choice.run()
  }
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    // While a word is being composed, these keys are for its candidates.
    if (event.isComposing || (step === 0 && event.key !== 'Enter')) return
    event.preventDefault()
    if (step === 0) run(choices[index])
    else setChosen(choices[(index + step + choices.length) % choices.length]?.key ?? null)
  }
  return (
    <Dialog title={say('palette.title')} look='palette' onClose={onClose}>
      <input
        type='text'
        role='combobox'
        dir='auto'
        spellcheck={false}
        autocomplete='off'
        aria-label={say('palette.search')}
        placeholder={say('palette.search')}
        aria-expanded='true'
        aria-autocomplete='list'
        aria-controls={`${id}-list`}
        {...(choices.length > 0 && { 'aria-activedescendant': `${id}-${index}` })}
        value={text}
        onInput={({ currentTarget }) => {
          setText(cutSecret(currentTarget))
          setChosen(null)
        }}
        onKeyDown={press}
      />
      <div class={isCurrent ? 'loaded' : 'loaded busy'}>{!isCurrent && <div class='line' />}</div>
      <ul ref={list} id={`${id}-list`} role='listbox' aria-label={say('palette.title')}>
        {choices.map((choice, i) => (
          <li
            key={choice.key}
            id={`${id}-${i}`}
            role='option'
            aria-selected={i === index}
            onClick={() => run(choice)}
            onPointerMove={() => setChosen(choice.key)}
          >
            <bdi>{choice.label}</bdi><bdi class='muted'>{choice.note}</bdi>
          </li>
        ))}
      </ul>
      <p class={choices.length > 0 || !isCurrent ? 'visually-hidden' : 'empty'} role='status'>
        {isCurrent && (choices.length === 0 ? say('palette.none') : say('palette.found', { count: choices.length }))}
      </p>
      <Alert error={paused === typed ? loaded.error : null} />
    </Dialog>
  )
}
