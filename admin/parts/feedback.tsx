import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import type { Loaded } from '../state/load.ts'
import { useSession } from '../state/session.ts'
import { useNotify } from '../state/notices.ts'
import { type TextName, useSpeech } from '../state/texts.ts'

/** Something that went wrong, read out immediately. */
export function Alert ({ error }: { error: unknown }) {
  const { sayError } = useSpeech()
  if (error === null || error === undefined) return null
  return <p class='alert' role='alert'>{typeof error === 'string' ? error : sayError(error)}</p>
}

interface WhenLoadedProps<Value> {
  loaded: Loaded<Value>
  children: (value: Value) => ComponentChildren
}

/** What was loaded; before that a word, and after a failure a button to try again. */
export function WhenLoaded<Value> ({ loaded, children }: WhenLoadedProps<Value>) {
  const { say } = useSpeech()
  const { value, error, isLoading, reload } = loaded
  return (
    <>
      {error !== null && (
        <div class='failed'>
          <Alert error={error} />
          <button type='button' onClick={reload}>{say('page.retry')}</button>
        </div>
      )}
      {value === null && isLoading && <p class='hint' role='status'>{say('page.loading')}</p>}
      {value !== null && <div aria-busy={isLoading}>{children(value)}</div>}
    </>
  )
}

interface NeedsProps {
  scope: string
  /** True if something may have been typed: it stays when the person signs in again with a key that can do less. */
  hasForm?: boolean
  /** What those see who lack the scope. */
  otherwise?: ComponentChildren
  children: ComponentChildren
}

/** Shows its children to whoever has a scope, and to others which scope is missing. */
export function Needs ({ scope, hasForm = false, otherwise, children }: NeedsProps) {
  const { say } = useSpeech()
  const { can } = useSession()
  const kept = useRef<string | null>(null)
  const has = can(scope)
  if (has) kept.current = hasForm ? scope : null
  else if (kept.current !== scope) kept.current = null
  return (
    <>
      {!has && <p class='hint missing'>{say('page.missingScope', { scope })}</p>}
      {has || kept.current !== null ? children : otherwise}
    </>
  )
}

interface CopyProps {
  /** What the text is, for screen readers: `ID`. */
  what: string
  text: string
}

export function CopyButton ({ what, text }: CopyProps) {
  const { say } = useSpeech()
  const notify = useNotify()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      notify(say('page.copied'))
    } catch {
      notify(say('page.notCopied'))
    }
  }
  return (
    <button type='button' class='small' aria-label={say('page.copyOf', { what })} onClick={copy}>
      {say('page.copy')}
    </button>
  )
}

/** A moment, in the person's time zone; the exact one as a tooltip. */
export function Time ({ moment }: { moment: string }) {
  const { time } = useSpeech()
  return <time dateTime={moment} title={moment}>{time(moment)}</time>
}

/** A secret that is shown once, with a button to copy it. It takes the place of a form, and its focus. */
export function Secret ({ label, help, text }: { label: TextName, help: TextName, text: string }) {
  const { say } = useSpeech()
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => element.current?.querySelector('button')?.focus(), [])
  return (
    <div ref={element} class='secret' role='status'>
      <p><strong>{say(help)}</strong></p>
      <p>
        <span class='visually-hidden'>{say(label)}: </span>
        <code>{text}</code> <CopyButton what={say(label)} text={text} />
      </p>
    </div>
  )
}

/** Runs what a person has asked for: says whether it runs, and what went wrong. */
export function useAction (): {
  error: unknown
  isBusy: boolean
  run: (action: () => Promise<void>) => Promise<void>
} {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const { version } = useSession()
  // Whoever has signed in again is no longer told that the key was refused.
  useEffect(() => {
    setError((error: unknown) => error instanceof ApiError && error.isUnauthorized ? null : error)
  }, [version])
  return {
    error,
    isBusy,
    async run (action) {
      setBusy(true)
      setError(null)
      try {
        await action()
      } catch (error) {
        setError(error)
      } finally {
        setBusy(false)
      }
    }
  }
}
