import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ClientError } from '../../client/error.ts'
import type { Loaded } from '../state/load.ts'
import { useSession } from '../state/session.ts'
import { useNotify } from '../state/notices.ts'
import { useSpeech } from '../state/texts.ts'
import { Icon } from './icon.tsx'

/** Something that went wrong, read out immediately and brought into view. */
export function Alert ({ error }: { error: unknown }) {
  const { sayError } = useSpeech()
  const element = useRef<HTMLParagraphElement>(null)
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), [error])
  if (error === null || error === undefined) return null
  return (
    <p ref={element} class='alert' role='alert'>
      <Icon name='alert' /><span>{typeof error === 'string' ? error : sayError(error)}</span>
    </p>
  )
}

interface WhenLoadedProps<Value> {
  loaded: Loaded<Value>
  children: (value: Value) => ComponentChildren
}

/** True of what is wrong or not there, however often it is asked for. */
const isFinal = (error: unknown): boolean => error instanceof ClientError && [400, 404, 410].includes(error.statusCode)

/**
 * What was loaded; before that a word, and after a failure a button to try again. While the next is loaded, what was
 * loaded before is dimmed.
 */
export function WhenLoaded<Value> ({ loaded, children }: WhenLoadedProps<Value>) {
  const { say } = useSpeech()
  const { value, error, isLoading, isStale, reload } = loaded
  return (
    <>
      {error !== null && (
        <div class='failed'>
          <Alert error={error} />
          {!isFinal(error) && <button type='button' onClick={reload}>{say('page.retry')}</button>}
        </div>
      )}
      {value === null && isLoading && <p class='hint' role='status'>{say('page.loading')}</p>}
      {value !== null && (
        <div class={isStale ? 'loaded stale' : 'loaded'} aria-busy={isLoading}>
          {isLoading && <div class='line' />}
          {children(value)}
        </div>
      )}
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

/** Which scopes are missing for what is not offered. */
export function Missing ({ scopes }: { scopes: readonly string[] }) {
  const { say } = useSpeech()
  const { can } = useSession()
  return (
    <>
      {scopes.filter((scope) => !can(scope)).map((scope) => (
        <p key={scope} class='hint missing'>{say('page.missingScope', { scope })}</p>
      ))}
    </>
  )
}

interface CopyProps {
  /** What the text is, for screen readers: `ID`. */
  what: string
  text: string
  onCopied?: () => void
}

export function CopyButton ({ what, text, onCopied }: CopyProps) {
  const { say } = useSpeech()
  const notify = useNotify()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      onCopied?.()
      notify(say('page.copied'))
    } catch {
      notify(say('page.notCopied'))
    }
  }
  return (
    <button type='button' class='copy' title={say('page.copy')} onClick={copy}>
      <Icon name='copy' /><span class='visually-hidden'>{say('page.copy')} {what}</span>
    </button>
  )
}

/** A moment, in the person's time zone; the exact one as a tooltip. */
export function Time ({ moment, isExact = false }: { moment: string, isExact?: boolean }) {
  const { time } = useSpeech()
  return <time dateTime={moment} title={moment}>{time(moment, isExact)}</time>
}

/**
 * Runs what a person has asked for: says whether it runs, and what went wrong. A button that is disabled meanwhile
 * loses the focus, and gets it back.
 */
export function useAction (): {
  error: unknown
  isBusy: boolean
  run: (action: () => Promise<void>) => Promise<void>
} {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const { version } = useSession()
  const notify = useNotify()
  const focused = useRef<Element | null>(null)
  useLayoutEffect(() => {
    const { current: element } = focused
    if (isBusy || document.activeElement !== document.body) return
    if (element instanceof HTMLElement && element.isConnected) element.focus()
  }, [isBusy])
  // Whoever has signed in again is no longer told that the key was refused.
  useEffect(() => {
    setError((error: unknown) => error instanceof ClientError && error.statusCode === 401 ? null : error)
  }, [version])
  return {
    error,
    isBusy,
    async run (action) {
      focused.current = document.activeElement
      setBusy(true)
      setError(null)
      // What was done before, such as a save, would be taken for this.
      notify('')
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
